"""Push: the time from the call of send in one process until another process has the message."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import covey
from bench.figures import Row, ms, percentile
from bench.raw import appends


async def pushes(url: str, count: int, receiving: str | None = None) -> list[float]:
    """Send messages one by one, each after the last arrived. Return the time that each took.

    `receiving` is the URL of the same space on the machine of the receiver.
    """
    async with covey.open(url) as space:
        me = await space.join("sender")
        command = [sys.executable, "-m", "bench.push_worker", receiving or url, str(count)]
        receiver = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert receiver.stdout is not None
        await receiver.stdout.readline()
        took: list[float] = []
        for _ in range(count):
            began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            await me.send("receiver", str(began))
            arrived, sent = (await receiver.stdout.readline()).split()
            took.append((int(arrived) - int(sent)) / 1e9)
        await receiver.wait()
    return took


def push(folder: Path, count: int) -> Row:
    before = appends(folder, 1.0)
    took = asyncio.run(pushes(f"sqlite:{folder}/push/covey.db", count))
    after = appends(folder, 1.0)
    raw = percentile([*before, *after], 0.5)
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    return Row(
        "send → other process has it (push, FULL)",
        f"p50 {ms(p50)}, p99 {ms(p99)}; raw append + fdatasync p50 {ms(raw)}",
        f"{p50 / raw:.2f} × one raw append + fdatasync",
        "at most 5 ×",
        {"p50": p50, "p99": p99, "raw_p50": raw},
    )
