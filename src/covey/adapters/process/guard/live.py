"""A guardian's connection to the owner of the run: it never blocks, and drops output at a bound."""

import select
import socket
import time
from typing import Final

from covey.adapters.process.guard.frames import GAP, Frames, frame

WAITING_LIMIT: Final = 1024 * 1024
"""Limit of the bytes that are buffered for an owner that does not read."""
RATE: Final = 1024 * 1024
"""Limit of the output that is forwarded in a second. More than that would keep the owner from all other work."""

_PIECE: Final = 65536


class Live:
    """Both directions of the connection, without blocking."""

    def __init__(self, connection: socket.socket, frames: Frames) -> None:
        self._connection = connection
        self._frames = frames
        self._waiting = bytearray()
        self._second = 0.0
        self._shown = 0
        self._gaps: set[bytes] = set()
        connection.setblocking(False)

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def show(self, kind: bytes, piece: bytes) -> None:
        """Forward output, or drop it and mark a gap."""
        now = time.monotonic()
        if now - self._second >= 1.0:
            self._second, self._shown = now, 0
        if self._shown + len(piece) > RATE or len(self._waiting) + len(piece) > WAITING_LIMIT:
            if kind not in self._gaps:
                self._gaps.add(kind)
                self.tell(GAP, kind)
            return
        self._gaps.discard(kind)
        self._shown += len(piece)
        self.tell(kind, piece)

    def tell(self, kind: bytes, content: bytes = b"") -> None:
        """Queue a frame, and send as much as the socket takes."""
        self._waiting += frame(kind, content)
        self.flush()

    def flush(self) -> None:
        """Send as much as the socket takes now."""
        try:
            while self._waiting:
                del self._waiting[: self._connection.send(self._waiting)]
        except BlockingIOError:
            return
        except OSError:  # the owner is gone; `hear` reports that too
            self._waiting.clear()

    def hear(self) -> list[tuple[bytes, bytes]] | None:
        """Return the owner's complete frames, or None if the owner is gone."""
        try:
            piece = self._connection.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return [*self._frames.feed(piece)] if piece else None

    def finish(self, limit: float) -> None:
        """Wait up to `limit` seconds until the buffer is sent."""
        until = time.monotonic() + limit
        poll = select.poll()
        poll.register(self._connection, select.POLLOUT)
        while self._waiting and (left := until - time.monotonic()) > 0:
            poll.poll(left * 1000)
            self.flush()
