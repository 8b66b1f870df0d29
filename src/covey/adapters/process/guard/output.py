"""An output as it is kept: the head in a file as it comes, the tail in memory until the end, all of it counted."""

import os
from collections import deque

from covey.adapters.process.guard.folder import TAIL, keep, write


class Keeper:
    """Keeps at most `limit` bytes. A disk that is full costs what is kept, and nothing else."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = path
        self._head: int | None = None  # made when there is something to keep: most programs leave one output empty
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Count the chunk and keep what there is room for."""
        self.total += len(chunk)
        if self._head_room:
            taken = chunk[: self._head_room]
            chunk = chunk[len(taken) :]
            try:
                if self._head is None:
                    self._head = _new(self._path)
                write(self._head, taken)
                self._head_room -= len(taken)
            except OSError:
                self._head_room = 0
        if chunk and self._tail_room:
            self._tail.append(chunk)
            self._tail_size += len(chunk)
            while self._tail_size - len(self._tail[0]) >= self._tail_room:
                self._tail_size -= len(self._tail.popleft())

    def close(self) -> None:
        """Make durable what is kept."""
        if self._head is not None:
            keep(self._head)
        if self._tail:
            try:
                keep(_new(self._path + TAIL), b"".join(self._tail)[-self._tail_room :])
            except OSError:
                return


def _new(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
