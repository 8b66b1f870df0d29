"""Spawning: what the ten stages cost besides the program's own start, against a bare subprocess."""

import asyncio
import os
import time
from pathlib import Path

import covey
from bench.figures import Row, ms, percentile
from covey import Card, Errand, Spawned
from covey.ports.launcher import Program
from covey.surfaces.python.spawned import Handler
from covey.wiring import launcher

TRUE = "/bin/true"
WARM_UP = 10
CARD = Card(command=(TRUE,), max_children=1_000)


async def bare(count: int) -> list[float]:
    """Start and await so many programs with asyncio alone."""
    took: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            TRUE, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        await process.communicate()
        took.append(time.perf_counter() - began)
    return took


async def guarded(folder: Path, count: int) -> list[float]:
    """Start so many under a guardian: the program's own start."""
    programs = launcher()
    took: list[float] = []
    for number in range(count):
        run = f"bench-{number}"
        program = Program((TRUE,), str(folder), dict(os.environ), str(folder / run), run)
        began = time.perf_counter()
        running = await programs.start(program)
        took.append(time.perf_counter() - began)
        await running.wait()
    await programs.close()
    return took


async def idle(_errand: Errand) -> None: ...


async def over(child: Spawned) -> None:
    """Wait until nothing of a child goes on: its end is not measured here."""
    await child.result()
    while child.record.folder is not None:
        await asyncio.sleep(0.001)
        await child.refresh()
    await asyncio.sleep(0.002)


async def spawned(folder: Path, count: int, run: Handler | None) -> list[float]:
    """Return how long spawns take until they return: of functions, which start nothing, or of programs."""
    took: list[float] = []
    async with covey.open(f"sqlite:{folder}/covey.db") as space:
        lead = await space.join("lead", card=CARD)
        for _ in range(WARM_UP + count):
            began = time.perf_counter()
            child = await lead.spawn("Nothing") if run is None else await lead.spawn("Nothing", run=run)
            took.append(time.perf_counter() - began)
            await over(child)
    return took[WARM_UP:]


def spawn_cost(folder: Path, count: int) -> Row:
    before = asyncio.run(bare(count))
    start = percentile(asyncio.run(guarded(folder, count)), 0.5)
    functions = asyncio.run(spawned(folder / "functions", count, idle))
    programs = asyncio.run(spawned(folder / "programs", count, None))
    base = percentile([*before, *asyncio.run(bare(count))], 0.5)
    function, program = percentile(functions, 0.5), percentile(programs, 0.5)
    without = max(0.0, program - start)
    return Row(
        "spawn, without the program's own start",
        f"p50 {ms(function)} for a function; {ms(without)} for a program ({ms(program)} with its start); "
        f"a bare subprocess {ms(base)}",
        f"{function / base:.2f} × a bare subprocess; for a program {without / base:.2f} ×",
        "at most 3 ×",
        {"function": function, "program": program, "start": start, "bare": base},
    )
