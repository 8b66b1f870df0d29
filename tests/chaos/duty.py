"""A duty under chaos: `covey work` as a forked process, and the program that it runs for each task."""

import json
import os
from pathlib import Path
from typing import NamedTuple, Self

from covey.surfaces.cli.main import main

PROGRAM = """\
#!/bin/sh
echo "$COVEY_TASK $COVEY_RUN begun" >> "$LEDGER"
echo "::progress begun"
sleep "$(printf '{pause}' $(($$ % 16)))"
echo "$COVEY_TASK $COVEY_RUN done" >> "$LEDGER"
echo "$COVEY_RUN"
"""
"""A program that records its begin and its end, and prints its run as the result."""


class Duty(NamedTuple):
    folder: str
    """The folder of the space and the ledger."""
    agent: str
    number: int
    concurrency: int

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*json.loads(text))


def store(folder: Path) -> str:
    return f"sqlite:{folder / 'covey.db'}"


def ledger(folder: Path) -> Path:
    return folder / "ledger"


def write_program(folder: Path, is_slow: bool) -> None:
    """Write the program that all duties of a folder run.

    A slow program takes up to 0.15 s, so that kills can hit it.
    """
    program = folder / "program"
    program.write_text(PROGRAM.format(pause="0.%02d" if is_slow else "0"))
    program.chmod(0o700)


def run(text: str) -> None:
    """Work until the duty ends."""
    duty = Duty.parse(text)
    folder = Path(duty.folder)
    log = os.open(folder / f"log-{duty.number:05}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["LEDGER"] = str(ledger(folder))
    os.chdir(folder)
    code = main(
        [
            *("work", duty.agent, "--run", "./program", "--concurrency", str(duty.concurrency)),
            *("--store", store(folder), "--attempts", "1000", "--keep", "100000", "--json"),
        ]
    )
    os._exit(code)  # the zygote's clean-up must not run in its children
