"""Both outputs of a program: read as they come, kept, and passed on."""

import os
from collections import deque
from typing import Final

from covey.adapters.process.guard import folder, frames
from covey.adapters.process.guard.child import Child
from covey.adapters.process.guard.folder import TAIL, keep, write
from covey.adapters.process.guard.live import Live


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


_PIECE: Final = 65536


class Outputs:
    """What a program prints."""

    def __init__(self, child: Child, place: str, limit: int, live: Live) -> None:
        stdout, stderr = (Keeper(os.path.join(place, name), limit) for name in (folder.STDOUT, folder.STDERR))
        self._live = live
        self._open = {child.stdout: (stdout, frames.OUT), child.stderr: (stderr, frames.ERR)}
        self._keepers = {folder.STDOUT: stdout, folder.STDERR: stderr}

    @property
    def open(self) -> list[int]:
        """The descriptors on which more may come."""
        return [*self._open]

    def read(self, descriptor: int) -> bool:
        """Take what is there, up to a piece; tell whether there may be more."""
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
        """Take the rest, keep it, and return how many bytes there were of each output."""
        for descriptor in self.open:
            while self.read(descriptor):
                pass
        for keeper in self._keepers.values():
            keeper.close()
        return {name: keeper.total for name, keeper in self._keepers.items()}
