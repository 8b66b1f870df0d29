"""Receivers as tests start and kill them."""

import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.channels.receiver import read_book

LIMIT_S = 20.0
ROOT = Path(__file__).parents[2]


class Receiver:
    """A receiver that is a process, at the same port each time it is started."""

    def __init__(self, folder: Path) -> None:
        self.book = folder / "receiver.book"
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    def start(self, *behaviours: str) -> None:
        """Let it run, and behave so for as many requests."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.channels.receiver", str(self.port), str(self.book), *behaviours],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """End it at once; from now on connections are refused."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=LIMIT_S)
            self._process = None

    @property
    def requests(self) -> list[Any]:
        """All requests that it has got, oldest first."""
        return read_book(self.book)

    @property
    def taken(self) -> list[Any]:
        """Those that it took, each key once."""
        return [line for line in self.requests if line["taken"]]

    def texts(self, conversation: str) -> list[str]:
        """What it took of a conversation, in that order."""
        return [line["body"]["text"] for line in self.taken if line["body"]["conversation"] == conversation]


@contextmanager
def receiver_in(folder: Path) -> Generator[Receiver]:
    """A receiver that is not there any more after the block."""
    receiver = Receiver(folder)
    try:
        yield receiver
    finally:
        receiver.kill()


def until(look: Callable[[], object], what: str) -> None:
    """Wait for something that another process does."""
    ends_at = time.monotonic() + LIMIT_S
    while not look():
        assert time.monotonic() < ends_at, f"{what} did not come"
        time.sleep(0.005)
