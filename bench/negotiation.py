"""Negotiation: the cost of a round (ask, answer, read the answer), compared with the two sends that it needs."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from statistics import median
from typing import Final

import covey
from bench.figures import Row, ms
from bench.sends import ROOMY
from covey.core.limits import MAX_COUNT
from covey.core.names import OPERATOR, AgentName
from covey.core.storms.budget import Limit
from covey.core.work.negotiation import REPLY_SKIP
from covey.surfaces.python.member import Member

TURNS: Final = 15

Work = Callable[[Member, Member, int], Coroutine[None, None, None]]
End = Callable[[Member, Member], Awaitable[None]]


async def rounds(asker: Member, answerer: Member, count: int) -> None:
    """Play rounds between two models that answer at once. Each text is new, as between real models."""
    asker_key, answerer_key = str(asker.session.key), str(answerer.session.key)

    async def answer() -> None:
        for number in range(count):
            if await answerer.inbox.next(timeout=10) is None:
                raise RuntimeError("the question did not come")
            await answerer.say(asker_key, f"answer {number}", timeout=0)

    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        for number in range(count):
            await asker.say(answerer_key, f"question {number}", timeout=10)


async def end(asker: Member, answerer: Member) -> None:
    """End the talk, so that the next one starts fresh. Ending is not a round."""
    await asker.say(str(answerer.session.key), REPLY_SKIP)
    await answerer.inbox.next(timeout=10)


async def nothing(_asker: Member, _answerer: Member) -> None:
    """Do nothing: sends need no end."""


async def two_sends(asker: Member, answerer: Member, count: int) -> None:
    """Send and send back, without reading."""
    for number in range(count):
        await asker.send(answerer.name, f"question {number}")
        await answerer.send(asker.name, f"answer {number}")


async def by_hand(asker: Member, answerer: Member, count: int) -> None:
    """Send and send back; each side waits for the message of the other.

    This is a round without its ticket and its limit.
    """

    async def answer() -> None:
        for number in range(count):
            if await answerer.inbox.next(timeout=10) is None:
                raise RuntimeError("the question did not come")
            await answerer.send(asker.name, f"answer {number}")

    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        for number in range(count):
            await asker.send(answerer.name, f"question {number}")
            if await asker.inbox.next(timeout=10) is None:
                raise RuntimeError("the answer did not come")


async def measured(url: str, work: Work, end: End, talks: int, lanes: int, length: int) -> float:
    """Let `lanes` pairs talk at once, `talks` times.

    Return the seconds for one round. Ending a talk is not measured.
    """
    async with covey.open(url) as space:
        by = space.services.identities
        operator = await by.by_token(await by.create_token(OPERATOR, by.claim(AgentName("owner"))))
        # Consecutive talks of a pair are one causal tree and one exchange, so the limits are raised.
        limits = {Limit.MESSAGES: MAX_COUNT, Limit.DEPTH: MAX_COUNT, Limit.EXCHANGE: MAX_COUNT}
        await space.services.storms.set_limits(limits, operator)
        pairs = [(await space.join(f"a{n}", card=ROOMY), await space.join(f"b{n}", card=ROOMY)) for n in range(lanes)]

        spent = 0.0
        for _ in range(talks):
            began = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for one, other in pairs:
                    group.create_task(work(one, other, length))
            spent += time.perf_counter() - began
            for one, other in pairs:
                await end(one, other)
        return spent / (talks * lanes * length)


def negotiation(folder: Path, talks: int) -> Row:
    """Measure talks of four rounds: a fifth round would make the pair pause.

    The three kinds alternate several times, and the median of each counts, because the speed of a disk changes from
    second to second.
    """
    figures: dict[str, float] = {}
    kinds = (("sends", two_sends, nothing), ("by hand", by_hand, nothing), ("round", rounds, end))
    for name, lanes in (("alone", 1), ("together", 16)):
        seen: dict[str, list[float]] = {what: [] for what, _, _ in kinds}
        for turn in range(TURNS):
            for what, work, last in kinds:
                url = f"sqlite:{folder}/{name}-{what.replace(' ', '-')}-{turn}/covey.db"
                taken = asyncio.run(measured(url, work, last, max(1, talks // lanes // TURNS), lanes, 4))
                seen[what].append(taken)
        figures |= {f"{name} {what}": median(taken) for what, taken in seen.items()}
    ratios = {name: figures[f"{name} round"] / figures[f"{name} by hand"] for name in ("alone", "together")}
    bare = {name: figures[f"{name} round"] / figures[f"{name} sends"] for name in ("alone", "together")}
    return Row(
        "a round of negotiation, instant answers in the process, one pair; 16 pairs at once",
        f"{ms(figures['alone round'])} (by hand {ms(figures['alone by hand'])}, bare {ms(figures['alone sends'])}); "
        f"{ms(figures['together round'])} ({ms(figures['together by hand'])}, {ms(figures['together sends'])})",
        f"{ratios['alone']:.2f} ×; {ratios['together']:.2f} × two sends that are waited for; {bare['alone']:.2f} ×; "
        f"{bare['together']:.2f} × two that nobody waits for",
        "at most 2 × for one pair",
        figures,
    )
