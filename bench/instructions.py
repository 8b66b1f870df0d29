"""Instructions of one send among 64, counted by valgrind: `python -m bench.instructions`.

The count is the difference between a long run and a short run, so that start-up and shutdown cancel out. It differs by
about 0.2 % from run to run, even if the machine is busy. `make bench` leaves it out, because it needs valgrind.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import covey
from bench.send_worker import TEXT
from bench.sends import make_sink

SENDERS = 64
SHORT, LONG = 20, 80
"""Messages of each sender."""


async def send(url: str, each: int) -> None:
    """Send `each` messages of 1 KB from each of 64 tasks."""
    async with covey.open(url) as space:
        me = await space.join("sender")

        async def sender() -> None:
            for _ in range(each):
                await me.send("sink", TEXT)

        async with asyncio.TaskGroup() as group:
            for _ in range(SENDERS):
                group.create_task(sender())


def instructions(folder: Path, each: int) -> int:
    """Return the instructions of a whole process that sends `each` messages from each of 64 tasks."""
    url = f"sqlite:{folder}/{each}/covey.db"
    asyncio.run(make_sink(url))
    valgrind = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{each}.out")
    counted = subprocess.run(
        [*valgrind, sys.executable, "-m", "bench.instructions", url, str(each)],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )
    collected = re.search(r"Collected : (\d+)", counted.stderr)
    if collected is None:
        raise ValueError(counted.stderr)
    return int(collected[1])


def main() -> None:
    if len(sys.argv) == 3:
        asyncio.run(send(sys.argv[1], int(sys.argv[2])))
        return
    with TemporaryDirectory() as folder:
        short, long = (instructions(Path(folder), each) for each in (SHORT, LONG))
    print(f"{(long - short) / (SENDERS * (LONG - SHORT)):,.0f} instructions for a send among {SENDERS}")


if __name__ == "__main__":
    main()
