"""Spawning: the cost of the ten stages without the program's own start, compared with a bare subprocess."""

import asyncio
import time
from pathlib import Path

import covey
from bench.figures import Row, ms, percentile
from covey import Card, Errand, Spawned
from covey.composition import launcher
from covey.ports.launcher import Program, StartedProgram
from covey.runtime.children import supervisor
from covey.surfaces.python.member import Child

TRUE = "/bin/true"
WARM_UP = 10
CARD = Card(command=("/bin/sleep", "60"), max_children=1_000)
"""The program outlives the measurement: a program that ends at once would be reported during its own spawn."""


async def bare(count: int) -> list[float]:
    """Start and await `count` programs with asyncio alone."""
    took: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            TRUE, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        await process.communicate()
        took.append(time.perf_counter() - began)
    return took


class Watched:
    """A launcher that records how long each program takes to start. That time is not a cost of the spawn."""

    def __init__(self, took: list[float]) -> None:
        self._launcher = launcher()
        self._took = took
        self.recall, self.sweep, self.close = self._launcher.recall, self._launcher.sweep, self._launcher.close

    async def start(self, program: Program) -> StartedProgram:
        began = time.perf_counter()
        try:
            return await self._launcher.start(program)
        finally:
            self._took.append(time.perf_counter() - began)


async def idle(_errand: Errand) -> None: ...


async def over(child: Spawned) -> None:
    """End a child and wait until all its work is over. This is not measured."""
    await child.stop()
    await child.result()
    while child.record.folder is not None:
        await asyncio.sleep(0.001)
        await child.refresh()
    await asyncio.sleep(0.002)


async def spawned(folder: Path, count: int, run: Child | None) -> list[tuple[float, float]]:
    """Return the duration of each spawn call, and the part of it in which a program starts.

    With `run`, the children are functions, which start nothing. Otherwise they are programs, which keep running.
    """
    took: list[tuple[float, float]] = []
    starts: list[float] = []
    supervisor.launcher = lambda: Watched(starts)
    async with covey.open(f"sqlite:{folder}/covey.db") as space:
        lead = await space.join("lead", card=CARD)
        for _ in range(WARM_UP + count):
            starts.clear()
            began = time.perf_counter()
            child = await lead.spawn("Nothing") if run is None else await lead.spawn("Nothing", run=run)
            took.append((time.perf_counter() - began, sum(starts)))
            await over(child)
    return took[WARM_UP:]


def spawn_cost(folder: Path, count: int) -> Row:
    before = asyncio.run(bare(count))
    functions = asyncio.run(spawned(folder / "functions", count, idle))
    programs = asyncio.run(spawned(folder / "programs", count, None))
    base = percentile([*before, *asyncio.run(bare(count))], 0.5)
    function, program = percentile([whole for whole, _ in functions], 0.5), percentile([w for w, _ in programs], 0.5)
    without = percentile([whole - start for whole, start in programs], 0.5)
    return Row(
        "spawn, without the program's own start",
        f"p50 {ms(function)} for a function; {ms(without)} for a program ({ms(program)} with its start); "
        f"a bare subprocess {ms(base)}",
        f"{function / base:.2f} × a bare subprocess; for a program {without / base:.2f} ×",
        "at most 3 ×",
        {"function": function, "program": program, "without": without, "bare": base},
    )
