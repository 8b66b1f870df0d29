"""One process with several concurrent senders."""

import asyncio
import json
import sys
import time

import covey
from bench.figures import percentile
from bench.workers import wait_for

TEXT = "x" * 1024


async def senders(url: str, name: str, concurrent: int, seconds: float) -> dict[str, float]:
    """Send messages of 1 KB from many tasks for some seconds. Return the count and the latencies."""
    took: list[float] = []
    async with covey.open(url) as space:
        me = await space.join(name)
        ends_at = time.perf_counter() + seconds

        async def sender() -> None:
            while (began := time.perf_counter()) < ends_at:
                await me.send("sink", TEXT)
                took.append(time.perf_counter() - began)

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrent):
                group.create_task(sender())
        elapsed = time.perf_counter() - began
    return {
        "count": len(took),
        "elapsed": elapsed,
        "p50": percentile(took, 0.5),
        "p99": percentile(took, 0.99),
        "p999": percentile(took, 0.999),
        "worst": max(took),
    }


def main() -> None:
    start_at, url, name, concurrent, seconds = sys.argv[1:]
    wait_for(start_at)
    print(json.dumps(asyncio.run(senders(url, name, int(concurrent), float(seconds)))))


if __name__ == "__main__":
    main()
