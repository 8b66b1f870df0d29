"""One player in a process of its own: `python -m covey.surfaces.cli.demo.player ROLE URL PACE [slow]`.

Cues come on standard input. At its end the show is over: a player never outlives the process that started it.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from covey.core.errors import Rejected
from covey.core.ledger.message import Kind, Message
from covey.surfaces.cli.demo.script import (
    CAST,
    CHAT,
    CODER,
    CRITIC,
    FIXER,
    GUIDE,
    LEAD,
    MAKER,
    RELEASE,
    RESOLVED,
    STALLED,
)
from covey.surfaces.python import space as spaces
from covey.surfaces.python.member import Member

PATIENCE: Final = 60.0
"""Timeout of an ask, and thinking time of a slow player. Longer than the demo may take."""


class ScriptedTurns:
    """The turns of a model: it is shown its waiting mail, and its answer proves that the mail was in its context."""

    def __init__(self, me: Member, pace: float) -> None:
        self.me = me
        self._pace = pace
        self._heard: deque[Message] = deque()
        self._count = 0

    async def hear(self) -> Message:
        """Return the next message that the model has read. Wait if there is none."""
        while not self._heard:
            if await self.me.inbox.next(PATIENCE) is not None:
                await self._turn()
        return self._heard.popleft()

    async def think(self) -> None:
        """Sleep as long as a model would think."""
        await asyncio.sleep(self._pace)

    async def _turn(self) -> None:
        self._count += 1
        showing = await self.me.offer(f"turn {self._count}")
        if showing is not None:
            await self.think()
            await self.me.confirm(showing.offer.id, "witnessed", f"the model answered turn {self._count}")
            self._heard.extend(item.message for item in showing.items)


Cues = AsyncIterator[str]
Part = Callable[[ScriptedTurns, Cues, bool], Awaitable[None]]


async def lead(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Begin an act at each cue, and commit at its end."""
    del is_slow
    async for cue in cues:
        await _LEADING[cue](turns)


async def _resolve(turns: ScriptedTurns) -> None:
    await turns.me.send(CODER, f"{RESOLVED}: drop what nobody calls.", subject="assignment")
    await _until(turns, "zero-findings")
    await turns.me.sweep(RESOLVED)


async def _stall(turns: ScriptedTurns) -> None:
    await turns.me.send(FIXER, f"{STALLED}: retry once, not for ever.", subject="assignment")
    await _until(turns, "stuck")
    try:
        await turns.me.sweep(STALLED)
    except Rejected as refusal:
        owed = (await turns.me.gate(STALLED)).subjects
        await turns.me.set_status(f"refused: {refusal.details['missing']} ({', '.join(owed)})")


async def _survive(turns: ScriptedTurns) -> None:
    await turns.me.ask(CODER, "Can we ship it?", timeout=PATIENCE, scope=RELEASE, subject="release-check")
    await turns.me.sweep(RELEASE)


async def _until(turns: ScriptedTurns, subject: str) -> None:
    while (await turns.hear()).subject != subject:
        pass


_LEADING: Final[dict[str, Callable[[ScriptedTurns], Awaitable[None]]]] = {
    "resolve": _resolve,
    "stall": _stall,
    "survive": _survive,
}


async def coder(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Edit, answer the critic's question to the point, and archive it."""
    del cues
    me = turns.me
    while True:
        message = await turns.hear()
        match message.subject:
            case "assignment":
                await me.set_status("round 1: edited, verify is red")
                await me.send(CRITIC, "FoobarService is gone; verify is red.", subject="review")
            case "style":
                await me.reply(message.id, "Yes: nothing calls it. I say so now.", round=2, close=False)
                await me.archive(message.id)
                await me.send(CRITIC, "Round 2 is ready.", subject="review-again")
            case _:
                if is_slow:
                    await asyncio.sleep(PATIENCE)
                await me.reply(message.id, "Yes: verify is green.")


async def fixer(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Answer beside the point, then report being stuck."""
    del cues, is_slow
    me = turns.me
    while True:
        message = await turns.hear()
        match message.subject:
            case "assignment":
                await me.send(CRITIC, "It retries less often now.", subject="review")
            case "style":
                await me.reply(message.id, "I renamed the variable.", round=3, close=False)
            case _:
                await me.send(LEAD, "I don't know what is meant. Commit it?", subject="stuck")


async def critic(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Ask about an unclear change, and insist if the answer is unclear."""
    del cues, is_slow
    me = turns.me
    while True:
        message = await turns.hear()
        match message.sender.agent, message.kind, message.subject:
            case "coder", Kind.NOTIFY, "review":
                question = "Did you mean to drop FoobarService?"
                await me.send(CODER, question, kind="request", scope=RESOLVED, round=1, subject="style")
            case "coder", Kind.NOTIFY, "review-again":
                await me.send(LEAD, "Zero findings.", subject="zero-findings")
            case "fixer", Kind.NOTIFY, _:
                question = "Why does it retry in two places?"
                await me.send(FIXER, question, kind="request", scope=STALLED, round=2, subject="style")
            case "fixer", Kind.RESPONSE, _:
                question = "Once, says the criterion. Where?"
                await me.send(FIXER, question, kind="request", scope=STALLED, round=3, subject="unmet-criterion")
            case _:
                pass


async def guide(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Delegate a person's request and say so. The result goes to the person's conversation by itself."""
    del cues, is_slow
    me = turns.me
    while True:
        message = await turns.hear()
        if message.sender.agent == CHAT:
            await me.reply(message.id, "The maker does it; you will hear of it here.")
            await me.delegate(MAKER, "Write sort_by_mtime().", relaying=message.id)


async def maker(turns: ScriptedTurns, cues: Cues, is_slow: bool) -> None:
    """Take and complete one task after the other."""
    del cues, is_slow
    while True:
        work = await turns.me.take(timeout=PATIENCE)
        if work is not None:
            await turns.think()
            await work.start()
            await turns.think()
            await work.progress("It sorts; testing it with links.")
            await turns.think()
            await work.complete("sort_by_mtime() is done: newest first.")


PARTS: Final[dict[str, Part]] = {
    LEAD: lead,
    CODER: coder,
    FIXER: fixer,
    CRITIC: critic,
    GUIDE: guide,
    MAKER: maker,
}


async def play(role: str, url: str, pace: float, is_slow: bool) -> None:
    """Join, play the part until the show is over, and leave."""
    reader = await _stdin()
    cues: asyncio.Queue[str] = asyncio.Queue(1)  # the next cue comes when an act is over
    async with spaces.open(url) as space, asyncio.TaskGroup() as group:
        me = await space.join(role, card={"description": CAST[role]})
        playing = group.create_task(_play(role, me, pace, cues, is_slow))
        while line := await reader.readline():
            await cues.put(line.decode().strip())
        playing.cancel()


async def _play(role: str, me: Member, pace: float, cues: asyncio.Queue[str], is_slow: bool) -> None:
    await PARTS[role](ScriptedTurns(me, pace), _each(cues), is_slow)


async def _each(cues: asyncio.Queue[str]) -> AsyncIterator[str]:
    while True:
        yield await cues.get()


async def _stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def main(role: str, url: str, pace: str, *rest: str) -> None:
    asyncio.run(play(role, url, float(pace), "slow" in rest))


if __name__ == "__main__":
    main(*sys.argv[1:])
