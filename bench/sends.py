"""Durable sends: one process with 64 senders, four processes with 16 each."""

import asyncio
from pathlib import Path

import covey
from bench.figures import Row, ms, per_second
from bench.raw import appends
from bench.send_worker import senders
from bench.workers import together
from covey.core.directory.card import Capacity, Card

ROOMY = Card(capacity=Capacity(limit=1_000_000))


async def make_sink(url: str) -> None:
    """Create the agent that receives all messages. No session of it reads them."""
    async with covey.open(url) as space:
        await space.join("sink", card=ROOMY)


def one_process(folder: Path, seconds: float) -> Row:
    url = f"sqlite:{folder}/one/covey.db"
    asyncio.run(make_sink(url))
    before = len(appends(folder, seconds / 2)) / (seconds / 2)
    sent = asyncio.run(senders(url, "sender", 64, seconds))
    after = len(appends(folder, seconds / 2)) / (seconds / 2)
    raw = (before + after) / 2
    rate = sent["count"] / sent["elapsed"]
    return Row(
        "durable sends, 1 process, 64 concurrent senders, 1 KB",
        f"{per_second(rate)} (p50 {ms(sent['p50'])}, p99 {ms(sent['p99'])}); raw {per_second(raw)}",
        f"{rate / raw:.2f} × raw append + fdatasync of one writer",
        "at least 2.5 ×",
        {"rate": rate, "raw": raw, **sent},
    )


def four_processes(folder: Path, seconds: float) -> Row:
    url = f"sqlite:{folder}/four/covey.db"
    asyncio.run(make_sink(url))
    raws = together("bench.raw_worker", [[str(folder), str(seconds), f"raw{n}"] for n in range(4)])
    sent = together("bench.send_worker", [[url, f"sender{n}", "16", str(seconds)] for n in range(4)])
    raw = sum(worker["count"] for worker in raws) / seconds
    shares = [worker["count"] / worker["elapsed"] for worker in sent]
    rate = sum(shares)
    p999 = max(worker["p999"] for worker in sent)
    return Row(
        "durable sends, 4 processes with 16 senders each, 1 KB",
        f"{per_second(rate)} (p99.9 {ms(p999)}); slowest process {min(shares) / max(shares):.2f} of the fastest; "
        f"raw {per_second(raw)}",
        f"{rate / raw:.2f} × raw of 4 writers",
        "at least 1 ×; slowest at least 0.5",
        {"rate": rate, "raw": raw, "fairness": min(shares) / max(shares), "p999": p999},
    )
