"""The parts of the players: each is a small model with a script instead of a mind."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from covey.core.errors import Rejected
from covey.core.ledger.message import Kind, Message
from covey.surfaces.cli.demo.script import (
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
from covey.surfaces.python.member import Member

PATIENCE: Final = 60.0
"""Timeout of an ask, and thinking time of a slow player. Longer than the demo may take."""


class Turns:
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
Part = Callable[[Turns, Cues, bool], Awaitable[None]]


async def lead(turns: Turns, cues: Cues, is_slow: bool) -> None:
    """Begin an act at each cue, and commit at its end."""
    del is_slow
    async for cue in cues:
        await _LEADING[cue](turns)


async def _resolve(turns: Turns) -> None:
    await turns.me.send(CODER, f"{RESOLVED}: drop what nobody calls.", subject="assignment")
    await _until(turns, "zero-findings")
    await turns.me.sweep(RESOLVED)


async def _stall(turns: Turns) -> None:
    await turns.me.send(FIXER, f"{STALLED}: retry once, not for ever.", subject="assignment")
    await _until(turns, "stuck")
    try:
        await turns.me.sweep(STALLED)
    except Rejected as refusal:
        owed = (await turns.me.gate(STALLED)).subjects
        await turns.me.set_status(f"refused: {refusal.details['missing']} ({', '.join(owed)})")


async def _survive(turns: Turns) -> None:
    await turns.me.ask(CODER, "Can we ship it?", timeout=PATIENCE, scope=RELEASE, subject="release-check")
    await turns.me.sweep(RELEASE)


async def _until(turns: Turns, subject: str) -> None:
    while (await turns.hear()).subject != subject:
        pass


_LEADING: Final[dict[str, Callable[[Turns], Awaitable[None]]]] = {
    "resolve": _resolve,
    "stall": _stall,
    "survive": _survive,
}


async def coder(turns: Turns, cues: Cues, is_slow: bool) -> None:
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
                await me.reply(message.id, "Yes: nothing calls it. I say so now.", round=2)
                await me.archive(message.id)
                await me.send(CRITIC, "Round 2 is ready.", subject="review-again")
            case _:
                if is_slow:
                    await asyncio.sleep(PATIENCE)
                await me.reply(message.id, "Yes: verify is green.", close=True)


async def fixer(turns: Turns, cues: Cues, is_slow: bool) -> None:
    """Answer beside the point, then report being stuck."""
    del cues, is_slow
    me = turns.me
    while True:
        message = await turns.hear()
        match message.subject:
            case "assignment":
                await me.send(CRITIC, "It retries less often now.", subject="review")
            case "style":
                await me.reply(message.id, "I renamed the variable.", round=3)
            case _:
                await me.send(LEAD, "I don't know what is meant. Commit it?", subject="stuck")


async def critic(turns: Turns, cues: Cues, is_slow: bool) -> None:
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


async def guide(turns: Turns, cues: Cues, is_slow: bool) -> None:
    """Delegate a person's request and say so. The result goes to the person's conversation by itself."""
    del cues, is_slow
    me = turns.me
    while True:
        message = await turns.hear()
        if message.sender.agent == CHAT:
            await me.reply(message.id, "The maker does it; you will hear of it here.")
            await me.delegate(MAKER, "Write sort_by_mtime().", relaying=message.id)


async def maker(turns: Turns, cues: Cues, is_slow: bool) -> None:
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
