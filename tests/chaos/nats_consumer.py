"""Consumers for tests that kill them: `python -m tests.chaos.nats_consumer ROLE URL`.

`hold` joins as bob, takes a task, has the pending messages offered, prints both, and then waits. `take` does tasks of
bob, one at a time, until there is none.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import covey

ROOT = Path(__file__).parents[2]
LIMIT_S = 120.0


@contextmanager
def consumer(role: str, url: str) -> Generator["subprocess.Popen[str]"]:
    """Start a consumer in a separate process, which is killed at the end."""
    words = [sys.executable, "-m", "tests.chaos.nats_consumer", role, url]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]") -> str:
    """Return the next line that a consumer prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def hold(url: str) -> None:
    async with covey.open(url) as space:
        me = await space.join("bob")
        task = await me.take(timeout=0)
        showing = await me.offer("turn", presentation="until_handled")
        offered = [item.message.id for item in showing.items] if showing is not None else []
        print(json.dumps({"offered": offered, "task": task.id if task else None}), flush=True)
        await asyncio.sleep(LIMIT_S)


async def take(url: str) -> None:
    async with covey.open(url) as space:
        me = await space.join("bob")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        taken: list[tuple[str, int]] = []
        while (work := await me.take(timeout=0)) is not None:
            taken.append((work.id, work.attempt))
            await work.start()
            await work.complete("done")
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    asyncio.run({"hold": hold, "take": take}[sys.argv[1]](sys.argv[2]))
