"""A crowd: list, broadcast to and hold many live sessions. Twice the sessions must cost about twice as much."""

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

import covey
from bench.figures import Row, ms
from bench.workers import together, wait_for


def memory() -> float:
    """Return the current memory of this process in bytes. On systems other than Linux, return its peak."""
    if (statm := Path("/proc/self/statm")).exists():
        return float(statm.read_text().split()[1]) * resource.getpagesize()
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


async def crowd(url: str, size: int) -> dict[str, float]:
    async with covey.open(url) as space:
        before = memory()
        began = time.perf_counter()
        members = [await space.join(f"agent-{n}") for n in range(size)]
        joined = time.perf_counter() - began
        held = (memory() - before) / size
        began = time.perf_counter()
        listed = len(await space.agents())
        listing = time.perf_counter() - began
        began = time.perf_counter()
        receipt = await members[0].send("*", "to all of you")
        sending = time.perf_counter() - began
        assert listed == size
        assert len(receipt.delivered) == size - 1
        began = time.perf_counter()
        heard = await asyncio.gather(*(member.inbox.next(30) for member in members[1:]))
        hearing = time.perf_counter() - began
        assert all(heard)
    return {
        "join_each": joined / size,
        "list": listing,
        "broadcast": sending,
        "hear_all": hearing,
        "memory_each": held,
    }


def crowds(folder: Path, size: int) -> Row:
    # Each crowd runs in a separate process: a process that held a crowd before has free memory for the next.
    (half,) = together("bench.crowd", [[f"sqlite:{folder}/half/covey.db", str(size // 2)]])
    (full,) = together("bench.crowd", [[f"sqlite:{folder}/full/covey.db", str(size)]])
    growth = {name: full[name] / half[name] for name in ("list", "broadcast", "hear_all")}
    return Row(
        f"{size:,} live sessions",
        f"list {ms(full['list'])}, broadcast to all {ms(full['broadcast'])}, all have read it {ms(full['hear_all'])}, "
        f"join {ms(full['join_each'])} each, {full['memory_each'] / 1024:.0f} KiB each",
        ", ".join(f"{name} {factor:.1f} ×" for name, factor in growth.items()) + f" of {size // 2:,}",
        "about 2 ×; 4 × would be quadratic",
        {**full, **{f"growth_{name}": factor for name, factor in growth.items()}},
    )


def main() -> None:
    start_at, url, size = sys.argv[1:]
    wait_for(start_at)
    print(json.dumps(asyncio.run(crowd(url, int(size)))))


if __name__ == "__main__":
    main()
