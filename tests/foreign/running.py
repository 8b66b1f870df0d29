"""Foreign programs in tests: started, called, and ended. This module belongs to the tests."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.adapters.children import LIMIT_S, ROOT, Child

LOOP = "tests.foreign.loop"
MAILBOX = "tests.foreign.mailbox"


def asked(program: str, root: Path, *words: str) -> Any:
    """Run a program to its end. Return its answer."""
    made = subprocess.run(
        [sys.executable, "-m", program, str(root), *words], capture_output=True, cwd=ROOT, timeout=LIMIT_S, check=False
    )
    assert made.stdout, made.stderr.decode()
    return json.loads(made.stdout)


def until(holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
    """Wait until a condition holds."""
    ends_at = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < ends_at, "it did not come to that in time"
        time.sleep(0.005)


class Neighbour(Child):
    """A program that runs until its input is closed."""

    def answer(self) -> Any:
        """Let the program end, and return its answer."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        told = self.line()
        assert self._process.wait(LIMIT_S) == 0
        return json.loads(told)


@contextmanager
def neighbour(program: str, root: Path, *words: str) -> Generator[Neighbour]:
    """Start a program that stays, and wait until it is ready."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", program, str(root), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("COVEY_")},
    ) as process:
        try:
            one = Neighbour(process)
            assert one.line() == "ready"
            yield one
        finally:
            process.kill()
