"""The listener of one event loop: it reads datagrams from its socket, and rings the bells of their topics."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Final

from covey.adapters.doorbell.door import ListeningSocket

LINGER_S: Final = 1.0
"""The time for which a topic stays linked after its last bell was removed. A caller that waits for one message often
waits for the next, and removing and making a link costs more than everything else in between."""

_QUEUE_LENGTH: Final = Path("/proc/sys/net/unix/max_dgram_qlen")
_FEWEST_QUEUED: Final = 10
"""The assumed length of a socket's queue on systems that do not report it: a lower bound."""


class DoorbellBell:
    """One waiter of an event loop."""

    def __init__(self, ear: "Listener", topics: frozenset[str]) -> None:
        self._ear = ear
        self._is_rung = False
        self._waiter: asyncio.Future[None] | None = None
        self.topics = topics

    async def wait(self, timeout: float) -> bool:
        if not self._is_rung:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(timeout, self._wake)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
            if not self._is_rung:
                self._ear.mend(self)
        rung, self._is_rung = self._is_rung, False
        return rung

    def ring(self) -> None:
        self._is_rung = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            # A signal may come after the check: the handler of asyncio.run cancels between any two steps.
            with suppress(asyncio.InvalidStateError):
                self._waiter.set_result(None)


class Listener:
    """A listening socket and its bells, on one event loop at a time."""

    def __init__(self, runtime: str, space: str) -> None:
        self._runtime = runtime
        self._space = space
        self._door: ListeningSocket | None = ListeningSocket(runtime, space)
        self._bells: dict[str, set[DoorbellBell]] = {}
        self._lingering: dict[str, asyncio.TimerHandle] = {}
        self._room = _queue_length() + 1
        self._thread = 0
        self.loop: asyncio.AbstractEventLoop | None = None

    @property
    def has_bells(self) -> bool:
        return bool(self._bells)

    @property
    def door_name(self) -> str:
        """The name of the socket's file; empty if the socket is closed."""
        return "" if self._door is None else self._door.name

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start reading on this loop. Call this on the loop's thread."""
        self.loop = loop
        self._thread = get_ident()
        if self._door is not None:
            loop.add_reader(self._door.socket.fileno(), self._read)

    def detach(self) -> None:
        """Stop reading. Call this on the loop's thread."""
        loop, self.loop = self.loop, None
        # In a forked child the loop still shares its selector with the parent's loop, and must not change it.
        if loop is not None and not loop.is_closed() and self._door is not None and self._door.is_own:
            loop.remove_reader(self._door.socket.fileno())

    def add(self, bell: DoorbellBell) -> None:
        """Ring the bell from now on."""
        for topic in bell.topics:
            self._bells.setdefault(topic, set()).add(bell)
        try:
            self._link([topic for topic in bell.topics if not self._has_lingered(topic)])
        except FileNotFoundError:
            self._move()

    def discard(self, bell: DoorbellBell) -> None:
        for topic in bell.topics:
            bells = self._bells.get(topic)
            if bells is None:
                continue
            bells.discard(bell)
            if not bells:
                del self._bells[topic]
                self._linger(topic)

    def hear(self, topics: Iterable[str]) -> None:
        """Ring the bells of topics directly, for a caller in this process. Any thread may call this."""
        rung = [topic for topic in topics if topic in self._bells]
        loop = self.loop
        if not rung or loop is None:
            return
        if self._thread == get_ident():
            self._ring(rung)
            return
        try:
            loop.call_soon_threadsafe(self._ring, rung)
        except RuntimeError:
            if not loop.is_closed():
                raise

    def mend(self, bell: DoorbellBell) -> None:
        """Restore files that a cleaner of temporary folders removed. Called after each wait that timed out."""
        if self._door is None:
            return
        try:
            if self._door.is_in_place:
                self._link(bell.topics)
            else:
                self._move()
        except OSError:
            return  # then no bell rings; waiting callers also read the store after each timeout

    def _linger(self, topic: str) -> None:
        if self.loop is not None and not self.loop.is_closed():
            self._lingering[topic] = self.loop.call_later(LINGER_S, self._unlink, topic)
        else:
            self._unlink(topic)

    def _has_lingered(self, topic: str) -> bool:
        """Tell whether the topic is still linked, and keep the link."""
        handle = self._lingering.pop(topic, None)
        if handle is None:
            return False
        handle.cancel()
        return True

    def _unlink(self, topic: str) -> None:
        self._lingering.pop(topic, None)
        if self._door is not None:
            self._door.unlink(topic)

    def close(self) -> None:
        """Stop reading and close the socket. Call this on the loop's thread, unless the loop is closed."""
        self.detach()
        for handle in self._lingering.values():
            handle.cancel()
        self._lingering.clear()
        if self._door is not None:
            self._door.close()
            self._door = None

    def _link(self, topics: Iterable[str]) -> None:
        if self._door is not None:
            for topic in topics:
                self._door.link(topic)

    def _move(self) -> None:
        """Open a new socket for all bells."""
        loop = self.loop
        self.close()
        self._door = ListeningSocket(self._runtime, self._space)
        if loop is not None:
            self.attach(loop)
        self._link(self._bells)

    def _read(self) -> None:
        if self._door is None:
            return
        rung: set[str] = set()
        for _ in range(self._room):
            try:
                rung.add(self._door.socket.recv(64).decode("ascii", "replace"))
            except OSError:  # all read
                break
        else:
            # The queue may have been full, so that rings for any topic were refused.
            rung = set(self._bells)
        self._ring(rung)

    def _ring(self, topics: Iterable[str]) -> None:
        for topic in topics:
            for bell in self._bells.get(topic, ()):
                bell.ring()


def _queue_length() -> int:
    try:
        return int(_QUEUE_LENGTH.read_text("ascii"))
    except (OSError, ValueError):
        return _FEWEST_QUEUED
