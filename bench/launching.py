"""Start of a program under a guardian, compared with a bare asyncio subprocess."""

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from bench.figures import Row, ms, percentile
from covey.composition import launcher as new_launcher
from covey.ports.launcher import Launcher, Program

COMMAND = "/usr/bin/true"
WARM_UP = 10


async def bare() -> tuple[float, float]:
    """Return the duration of the start of a bare subprocess, and of its whole run."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(COMMAND, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    started = time.perf_counter()
    await process.communicate()
    return started - began, time.perf_counter() - began


async def guarded(launcher: Launcher, folder: Path, number: int) -> tuple[float, float]:
    """Return the duration of the start of a program under a guardian, and the time until its end is recorded."""
    run = f"bench-{os.getpid()}-{number}"
    program = Program((COMMAND,), cwd=str(folder), env=dict(os.environ), folder=str(folder / run), run=run)
    began = time.perf_counter()
    running = await launcher.start(program)
    started = time.perf_counter()
    await running.wait()
    return started - began, time.perf_counter() - began


async def by_turns(folder: Path, repeats: int) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the times of bare and guarded programs, measured alternately."""
    launcher = new_launcher()
    try:
        pairs = [(await bare(), await guarded(launcher, folder, number)) for number in range(WARM_UP + repeats)]
    finally:
        await launcher.close()
    return [first for first, _ in pairs[WARM_UP:]], [second for _, second in pairs[WARM_UP:]]


def launching(folder: Path, repeats: int) -> Row:
    """Measure the start of a program that does nothing."""
    plain, kept = asyncio.run(by_turns(folder, repeats))
    start, base = percentile([one for one, _ in kept], 0.5), percentile([one for one, _ in plain], 0.5)
    whole, base_whole = percentile([one for _, one in kept], 0.5), percentile([one for _, one in plain], 0.5)
    return Row(
        "start of a program under a guardian",
        f"start p50 {ms(start)}, to its recorded end {ms(whole)}; bare p50 {ms(base)} and {ms(base_whole)}",
        f"{start / base:.2f} × a bare asyncio subprocess",
        "at most 3 ×",
        {"start_p50": start, "whole_p50": whole, "bare_start_p50": base, "bare_whole_p50": base_whole},
    )
