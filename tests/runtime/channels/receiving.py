"""Receivers that tests start and kill."""

import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.runtime.channels.receiver import read_book

LIMIT_S = 20.0
ROOT = Path(__file__).parents[3]


class Receiver:
    """A receiver process that uses the same port each time it is started."""

    def __init__(self, folder: Path) -> None:
        self.book = folder / "receiver.book"
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    def start(self, *behaviours: str) -> None:
        """Start the receiver, with one behaviour for each of the next requests."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.runtime.channels.receiver", str(self.port), str(self.book), *behaviours],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """Kill the receiver; from now on connections are refused."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=LIMIT_S)
            self._process = None

    @property
    def requests(self) -> list[Any]:
        """All received requests, oldest first."""
        return read_book(self.book)

    @property
    def taken(self) -> list[Any]:
        """The requests that were taken, each key once."""
        return [line for line in self.requests if line["taken"]]

    def texts(self, conversation: str) -> list[str]:
        """Return the taken texts of a conversation, in order."""
        return [line["body"]["text"] for line in self.taken if line["body"]["conversation"] == conversation]


@contextmanager
def receiver_in(folder: Path) -> Generator[Receiver]:
    """Provide a receiver that is killed after the block."""
    receiver = Receiver(folder)
    try:
        yield receiver
    finally:
        receiver.kill()


def until(look: Callable[[], object], what: str) -> None:
    """Wait for an effect of another process."""
    ends_at = time.monotonic() + LIMIT_S
    while not look():
        assert time.monotonic() < ends_at, f"{what} did not come"
        time.sleep(0.005)
