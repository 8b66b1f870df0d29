"""Cold start: the duration of whole processes, compared with a Python process that does nothing."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.figures import Row, ms, percentile

WARM_UP = 3
PENDING = 3


def command() -> list[str]:
    """Return the command that runs Covey: the script next to this Python, or else the module."""
    script = Path(sys.executable).with_name("covey")
    return [str(script)] if script.exists() else [sys.executable, "-m", "covey"]


def took(words: list[str], environment: Mapping[str, str], silence: int) -> float:
    """Run a process to its end. Return its duration."""
    began = time.perf_counter()
    pid = os.posix_spawn(words[0], words, environment, file_actions=[(os.POSIX_SPAWN_DUP2, silence, 1)])
    _, status = os.waitpid(pid, 0)
    ended = time.perf_counter()
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return ended - began


def beside_bare(folder: Path, repeats: int, *words: str) -> tuple[list[float], list[float]]:
    """Run a bare Python and the command alternately. Return the durations of both."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    environment["COVEY_STORE"] = f"sqlite:{folder}/covey.db"
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    bare: list[float] = []
    covey: list[float] = []
    with Path(os.devnull).open("w") as nothing:
        send = [*command(), "send", "The parser is done.", "--from", "lead", "--to", "coder", "--register"]
        for _ in range(PENDING):
            took(send, environment, nothing.fileno())
        for _ in range(WARM_UP + repeats):
            bare.append(took([sys.executable, "-c", "pass"], environment, nothing.fileno()))
            covey.append(took([*command(), *words], environment, nothing.fileno()))
    return bare[WARM_UP:], covey[WARM_UP:]


def row(what: str, wanted: str, bare: Sequence[float], covey: Sequence[float]) -> Row:
    """Return the row of a command, by the medians."""
    p50, p95, base = percentile(covey, 0.5), percentile(covey, 0.95), percentile(bare, 0.5)
    return Row(
        what,
        f"p50 {ms(p50)}, p95 {ms(p95)}; `python -c pass` p50 {ms(base)}",
        f"{p50 / base:.2f} × a bare Python",
        wanted,
        {"p50": p50, "p95": p95, "least": min(covey), "bare_p50": base, "bare_least": min(bare)},
    )


def cold_inbox(folder: Path, repeats: int) -> Row:
    bare, covey = beside_bare(folder, repeats, "inbox", "coder", "--json")
    return row(f"`covey inbox AGENT --json`, whole process, {PENDING} pending", "at most 5 ×; aim for 3", bare, covey)


def cold_send(folder: Path, repeats: int) -> Row:
    words = ("send", "The parser is done.", "--from", "lead", "--to", "coder", "--json")
    bare, covey = beside_bare(folder, repeats, *words)
    return row("`covey send`, whole process, durable", "reported", bare, covey)
