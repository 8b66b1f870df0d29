"""Child processes that report their progress, one line a step."""

import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

LIMIT_S = 20.0
ROOT = Path(__file__).parents[2]


class Child:
    """A Python program in a separate process. `LIMIT_S` bounds every wait for it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._unread = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def line(self) -> str:
        """Return the next line that the child prints."""
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._process.stdout], [], [], LIMIT_S)
            assert ready, "the child said nothing in time"
            chunk = os.read(self._process.stdout.fileno(), 65536)
            assert chunk, f"the child ended ({self._process.wait(LIMIT_S)}) without a word"
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def say(self, line: str) -> None:
        """Write a line to the child's standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """Kill the child with SIGKILL and wait until it is gone."""
        self._process.kill()
        self._process.wait(LIMIT_S)

    def kill_unreaped(self) -> None:
        """Kill the child and wait until it is dead, but leave it as a zombie."""
        self._process.kill()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def end(self) -> int:
        """Close the child's standard input, wait for its end and return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(LIMIT_S)


@contextmanager
def child(program: str, *arguments: str) -> Generator[Child]:
    """Run a program text. The process is always gone at the end."""
    with subprocess.Popen(
        [sys.executable, "-u", "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            yield Child(process)
        finally:
            process.kill()
