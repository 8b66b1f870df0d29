"""Tasks: the time from delegate to completed with an instant worker, tasks a second with four workers, and growth."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import covey
from bench.figures import Row, ms, per_second, percentile
from bench.sends import ROOMY
from covey.surfaces.python.member import Member

TEXT = "x" * 200
BUSY = ROOMY._replace(quota=64)


async def finish_one(worker: Member, timeout: float) -> bool:
    """Take the next task and complete it at once."""
    work = await worker.take(timeout=timeout, start=True)
    if work is None:
        return False
    await work.complete("done")
    return True


async def handed_over(boss: Member, worker: Member, count: int, lanes: int) -> float:
    """Delegate, accept and complete `count` tasks in `lanes` concurrent lanes. Return the seconds for one task."""

    async def lane() -> None:
        for _ in range(count // lanes):
            await boss.delegate("worker", TEXT)
            await finish_one(worker, 10)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(lanes):
            group.create_task(lane())
    return (time.perf_counter() - began) / count


async def four_sends(boss: Member, count: int, lanes: int) -> float:
    """Send four messages `count` times in `lanes` concurrent lanes. Return the seconds for four messages."""

    async def lane() -> None:
        for _ in range(count // lanes * 4):
            await boss.send("sink", TEXT)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(lanes):
            group.create_task(lane())
    return (time.perf_counter() - began) / count


async def both(url: str, count: int, lanes: int) -> tuple[float, float]:
    async with covey.open(url) as space:
        boss = await space.join("boss", card=ROOMY)
        worker = await space.join("worker", card=BUSY)
        await space.join("sink", card=ROOMY)
        before = await four_sends(boss, count, lanes)
        task = await handed_over(boss, worker, count, lanes)
        after = await four_sends(boss, count, lanes)
        return task, (before + after) / 2


def task_cost(folder: Path, count: int) -> Row:
    together, sends = asyncio.run(both(f"sqlite:{folder}/together/covey.db", count, 16))
    alone, alone_sends = asyncio.run(both(f"sqlite:{folder}/alone/covey.db", count // 8, 1))
    return Row(
        "delegate → accepted → working → completed, instant worker in the process, 16 at once",
        f"{ms(together)} each (four sends {ms(sends)}); one after the other {ms(alone)} ({ms(alone_sends)})",
        f"{together / sends:.2f} × four sends; one after the other {alone / alone_sends:.2f} ×",
        "at most 2 ×",
        {"task": together, "sends": sends, "alone": alone, "alone_sends": alone_sends},
    )


async def growing(url: str, finished: int, repeats: int) -> float:
    """Return the duration of one task in a space with `finished` finished ones."""
    async with covey.open(f"{url}?synchronous=normal") as space:
        boss = await space.join("boss", card=ROOMY)
        worker = await space.join("worker", card=BUSY)
        await handed_over(boss, worker, finished, 32)
        took: list[float] = []
        for _ in range(repeats):
            began = time.perf_counter()
            await boss.delegate("worker", TEXT)
            await finish_one(worker, 10)
            took.append(time.perf_counter() - began)
        return percentile(took, 0.5)


def task_growth(folder: Path, few: int, many: int) -> Row:
    small = asyncio.run(growing(f"sqlite:{folder}/few/covey.db", few, 500))
    large = asyncio.run(growing(f"sqlite:{folder}/many/covey.db", many, 500))
    again = asyncio.run(growing(f"sqlite:{folder}/again/covey.db", few, 500))
    base = (small + again) / 2
    return Row(
        f"one task with {many:,} finished ones",
        f"p50 {ms(large)}; with {few:,} {ms(base)}",
        f"{large / base:.2f} × the same with {few:,}",
        "at most 1.2 ×",
        {"many": large, "few": base, "finished": many},
    )


async def work_off(url: str) -> int:
    """Take and complete tasks until none arrives for a second."""
    done = 0
    async with covey.open(url) as space:
        worker = await space.join("worker", card=BUSY)
        while await finish_one(worker, 1):
            done += 1
    return done


async def hand_over(url: str, count: int) -> None:
    async with covey.open(url) as space:
        boss = await space.join("boss", card=ROOMY)
        await space.join("worker", card=BUSY)
        for _ in range(count):
            await boss.delegate("worker", TEXT)


def four_workers(folder: Path, count: int) -> Row:
    url = f"sqlite:{folder}/crew/covey.db"
    asyncio.run(hand_over(url, count))
    command = [sys.executable, "-m", "bench.tasks", url]
    began = time.perf_counter()
    crew = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    shares = [int(json.loads(process.communicate(timeout=300)[0])) for process in crew]
    elapsed = time.perf_counter() - began - 1  # the workers wait for more tasks during the last second
    return Row(
        f"{count:,} tasks with 4 worker processes",
        f"{per_second(count / elapsed)}; shares {', '.join(str(share) for share in sorted(shares))}",
        "",
        "reported",
        {"rate": count / elapsed, "count": count, "done": sum(shares)},
    )


if __name__ == "__main__":
    print(asyncio.run(work_off(sys.argv[1])))
