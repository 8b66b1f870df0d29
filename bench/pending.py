"""Growth: reading 10 pending deliveries beside 10,000 and beside 1,000,000 stored messages."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import covey
from bench.figures import Row, ms, percentile
from bench.sends import ROOMY
from covey.surfaces.python.member import Member

SCOPE_SIZE = 5_000


async def store_handled(me: Member, count: int) -> None:
    """Fill the space with messages that the reader has had and that were swept."""
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


async def reading(url: str, stored: int, repeats: int) -> float:
    """Return how long a look at 10 pending deliveries takes beside `stored` messages."""
    async with covey.open(url) as space:
        me = await space.join("writer")
        reader = await space.join("reader", card=ROOMY)
        await store_handled(me, stored)
        for number in range(10):
            await me.send("reader", f"pending {number}")
        took: list[float] = []
        for _ in range(repeats):
            began = time.perf_counter()
            found = await reader.inbox.peek()
            took.append(time.perf_counter() - began)
            assert len(found) == 10
        return percentile(took, 0.5)


def growth(folder: Path, large: int) -> Row:
    return grown(lambda name: f"sqlite:{folder}/{name}/covey.db?synchronous=normal", large)


def grown(url: Callable[[str], str], large: int, where: str = "") -> Row:
    """Measure on spaces of which `url` gives the URL by their name."""
    few = asyncio.run(reading(url("few"), 10_000, 500))
    many = asyncio.run(reading(url("many"), large, 500))
    again = asyncio.run(reading(url("again"), 10_000, 500))
    base = (few + again) / 2
    return Row(
        f"{where}reading 10 pending with {large:,} stored",
        f"p50 {ms(many)}; with 10,000 stored {ms(base)}",
        f"{many / base:.2f} × the same with 10,000",
        "at most 1.5 ×",
        {"many": many, "few": base, "stored": large},
    )
