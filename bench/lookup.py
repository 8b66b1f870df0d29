"""Search: find words in many messages, and measure how soon a new message is found."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import apsw

import covey
from bench.figures import Row, ms, percentile
from bench.sends import make_sink
from covey.surfaces.python.member import Member

WORDS = 20_000
LONG = 40
"""Number of words in a message."""

SENDERS = 128
SCANS = 5


def vocabulary() -> tuple[Sequence[str], Sequence[float]]:
    """Return made-up words and their frequencies: word n is used 1/n as often as word 1, as in a natural language."""
    letters = "bcdfghklmnprstvz"
    words = [
        f"{letters[n % 16]}a{letters[n // 16 % 16]}e{letters[n // 256 % 16]}o{n // 4096 or ''}" for n in range(WORDS)
    ]
    return words, [1 / (n + 1) for n in range(WORDS)]


async def fill(me: Member, count: int, random: Random) -> None:
    """Send messages with words of the vocabulary."""
    words, weights = vocabulary()
    drawn = random.choices(words, weights, k=200_000)
    starts = iter([random.randrange(len(drawn) - LONG) for _ in range(count)])

    async def sender(starts: Iterator[int]) -> None:
        for start in starts:
            await me.send("sink", " ".join(drawn[start : start + LONG]))

    async with asyncio.TaskGroup() as group:
        for _ in range(SENDERS):
            group.create_task(sender(starts))


def scans(database: Path, queries: Sequence[str]) -> list[float]:
    """Return the durations of searches without an index, which read every message and look for the words."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    cursor: Any = connection.cursor()
    took: list[float] = []
    for query in queries:
        began = time.perf_counter()
        for (document,) in cursor.execute("select document from messages"):
            _ = all(word in document for word in query.split())
        took.append(time.perf_counter() - began)
    connection.close()
    return took


async def searches(database: Path, stored: int, repeats: int) -> dict[str, float]:
    random = Random(3)
    words, weights = vocabulary()
    queries = [" ".join(random.choices(words, weights, k=random.choice((1, 2, 3)))) for _ in range(repeats)]
    url = f"sqlite:{database}?synchronous=normal"
    await make_sink(url)
    async with covey.open(url) as space:
        me = await space.join("writer")
        began = time.perf_counter()
        await fill(me, stored, random)
        filled = time.perf_counter() - began
        began = time.perf_counter()
        await space.search("nothing")
        taken_in = time.perf_counter() - began
        took: list[float] = []
        for query in queries:
            began = time.perf_counter()
            await space.search(query)
            took.append(time.perf_counter() - began)
        found: list[float] = []
        for number in range(repeats):
            began = time.perf_counter()
            receipt = await me.send("sink", f"something new: novelty{number}")
            (hit,) = await space.search(f"novelty{number}")
            found.append(time.perf_counter() - began)
            assert hit.message.id == receipt.message_id
    scan = percentile(scans(database, queries[:SCANS]), 0.5)
    return {
        "stored": stored,
        "p50": percentile(took, 0.5),
        "p95": percentile(took, 0.95),
        "worst": max(took),
        "found_p50": percentile(found, 0.5),
        "found_worst": max(found),
        "scan_p50": scan,
        "filled_s": filled,
        "taken_in_s": taken_in,
    }


def lookup(folder: Path, stored: int, repeats: int) -> Row:
    raw = asyncio.run(searches(folder / "covey.db", stored, repeats))
    figure = (
        f"p50 {ms(raw['p50'])}, p95 {ms(raw['p95'])}",
        f"a new message is found {ms(raw['found_p50'])} after the call of send, at worst {ms(raw['found_worst'])}",
        f"the first search, which takes them all in, {raw['taken_in_s']:.1f} s",
        f"reading them all {ms(raw['scan_p50'])}",
    )
    return Row(
        f"search in {stored:,} messages",
        "; ".join(figure),
        f"{raw['p50'] / raw['scan_p50']:.3f} × reading them all",
        "reported; a new one within 1 s",
        raw,
    )
