"""Growth: read 10 pending deliveries with 10,000 and with 1,000,000 stored messages."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import covey
from bench.figures import Row, ms, percentile
from bench.sends import ROOMY
from covey.surfaces.python.member import Member

SCOPE_SIZE = 5_000


async def store_handled(me: Member, count: int) -> None:
    """Fill the space with messages that the reader received and that were swept."""
    for start in range(0, count, SCOPE_SIZE):
        scope = f"batch-{start}"
        numbers = iter(range(min(SCOPE_SIZE, count - start)))

        async def sender(scope: str = scope, numbers: Iterator[int] = numbers) -> None:
            for _ in numbers:
                await me.send("reader", "x" * 200, scope=scope)

        async with asyncio.TaskGroup() as group:
            for _ in range(128):
                group.create_task(sender())
        await me.sweep(scope)


@asynccontextmanager
async def filled(url: str, stored: int) -> AsyncGenerator[Member]:
    """Yield a reader with 10 pending deliveries in a space with `stored` more messages."""
    async with covey.open(url) as space:
        me = await space.join("writer")
        reader = await space.join("reader", card=ROOMY)
        await store_handled(me, stored)
        for number in range(10):
            await me.send("reader", f"pending {number}")
        yield reader


async def peek(reader: Member) -> float:
    """Return the duration of a read of the pending deliveries."""
    began = time.perf_counter()
    found = await reader.inbox.peek()
    took = time.perf_counter() - began
    assert len(found) == 10
    return took


async def by_turns(few: str, many: str, large: int, repeats: int) -> tuple[float, float]:
    """Return the median duration of a read with few and with many messages.

    The reads alternate, because the speed of a machine varies.
    """
    async with filled(few, 10_000) as one, filled(many, large) as other:
        took = [(await peek(one), await peek(other)) for _ in range(repeats)]
    return percentile([each for each, _ in took], 0.5), percentile([each for _, each in took], 0.5)


def growth(folder: Path, large: int) -> Row:
    return grown(lambda name: f"sqlite:{folder}/{name}/covey.db?synchronous=normal", large)


def grown(url: Callable[[str], str], large: int, where: str = "") -> Row:
    """Measure on two spaces; `url` returns the URL of a space by its name."""
    few, many = asyncio.run(by_turns(url("few"), url("many"), large, 1000))
    return Row(
        f"{where}reading 10 pending with {large:,} stored",
        f"p50 {ms(many)}; with 10,000 stored {ms(few)}",
        f"{many / few:.2f} × the same with 10,000",
        "at most 1.5 ×",
        {"many": many, "few": few, "stored": large},
    )
