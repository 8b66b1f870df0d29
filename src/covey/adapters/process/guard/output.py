"""Capture of a program's two outputs: read as they arrive, stored, and forwarded."""

import os
from collections import deque
from typing import Final

from covey.adapters.process.guard import folder, frames
from covey.adapters.process.guard.child import Child
from covey.adapters.process.guard.folder import TAIL, keep, write
from covey.adapters.process.guard.live import Live


class Keeper:
    """The stored beginning and end of one output, at most `limit` bytes. A full disk loses stored output, and has no
    other effect."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = path
        self._head: int | None = None  # created with the first output: most programs leave one of the two empty
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Count the chunk and store the part that fits."""
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
        """Write the end of the output, and sync."""
        if self._head is not None:
            keep(self._head)
        if self._tail:
            try:
                keep(_new(self._path + TAIL), b"".join(self._tail)[-self._tail_room :])
            except OSError:
                return


def _new(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


_PIECE: Final = 65536


class Outputs:
    """The outputs of one program."""

    def __init__(self, child: Child, place: str, limit: int, live: Live) -> None:
        stdout, stderr = (Keeper(os.path.join(place, name), limit) for name in (folder.STDOUT, folder.STDERR))
        self._live = live
        self._open = {child.stdout: (stdout, frames.OUT), child.stderr: (stderr, frames.ERR)}
        self._keepers = {folder.STDOUT: stdout, folder.STDERR: stderr}

    @property
    def open(self) -> list[int]:
        """The descriptors that are still open."""
        return [*self._open]

    def read(self, descriptor: int) -> bool:
        """Read one piece of output; tell whether there may be more."""
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return False
        keeper, kind = self._open[descriptor]
        if piece:
            keeper.add(piece)
            self._live.show(kind, piece)
        else:
            os.close(descriptor)
            del self._open[descriptor]
        return bool(piece)

    def close(self) -> dict[str, int]:
        """Read and store the rest; return the total bytes of each output."""
        for descriptor in self.open:
            while self.read(descriptor):
                pass
        for keeper in self._keepers.values():
            keeper.close()
        return {name: keeper.total for name, keeper in self._keepers.items()}
