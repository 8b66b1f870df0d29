"""Wake-ups for programs with an event loop: bells that ring when a datagram for one of their topics arrives.

Each event loop has one listener, which reads the datagrams from its socket.
"""

import asyncio
import os
import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Final

from covey.adapters.doorbell.listening_socket import ListeningSocket
from covey.adapters.doorbell.ringer import DoorbellRinger
from covey.adapters.doorbell.runtime_folder import RuntimeFolderUnusable, space_folder, topic_name
from covey.core.errors import StoreClosed
from covey.core.names import Topic

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
        self._socket: ListeningSocket | None = ListeningSocket(runtime, space)
        self._bells: dict[str, set[DoorbellBell]] = {}
        self._lingering: dict[str, asyncio.TimerHandle] = {}
        self._room = _queue_length() + 1
        self._thread = 0
        self.loop: asyncio.AbstractEventLoop | None = None

    @property
    def has_bells(self) -> bool:
        return bool(self._bells)

    @property
    def socket_name(self) -> str:
        """The name of the socket's file; empty if the socket is closed."""
        return "" if self._socket is None else self._socket.name

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start reading on this loop. Call this on the loop's thread."""
        self.loop = loop
        self._thread = get_ident()
        if self._socket is not None:
            loop.add_reader(self._socket.socket.fileno(), self._read)

    def detach(self) -> None:
        """Stop reading. Call this on the loop's thread."""
        loop, self.loop = self.loop, None
        # In a forked child the loop still shares its selector with the parent's loop, and must not change it.
        if loop is not None and not loop.is_closed() and self._socket is not None and self._socket.is_own:
            loop.remove_reader(self._socket.socket.fileno())

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
        if self._socket is None:
            return
        try:
            if self._socket.is_in_place:
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
        if self._socket is not None:
            self._socket.unlink(topic)

    def close(self) -> None:
        """Stop reading and close the socket. Call this on the loop's thread, unless the loop is closed."""
        self.detach()
        for handle in self._lingering.values():
            handle.cancel()
        self._lingering.clear()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _link(self, topics: Iterable[str]) -> None:
        if self._socket is not None:
            for topic in topics:
                self._socket.link(topic)

    def _move(self) -> None:
        """Open a new socket for all bells."""
        loop = self.loop
        self.close()
        self._socket = ListeningSocket(self._runtime, self._space)
        if loop is not None:
            self.attach(loop)
        self._link(self._bells)

    def _read(self) -> None:
        if self._socket is None:
            return
        rung: set[str] = set()
        for _ in range(self._room):
            try:
                rung.add(self._socket.socket.recv(64).decode("ascii", "replace"))
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


Loop = asyncio.AbstractEventLoop


class DoorbellWakeups:
    """`Wakeups` for all processes of a user that have the store at this path open.

    One object may be used on several event loops, one after the other or in several threads at once: each loop that
    listens has one socket. Entering `listen` raises RuntimeFolderUnusable if the runtime folder is not private; `ring`
    then sends nothing.
    """

    def __init__(self, store: str, runtime: str) -> None:
        self._runtime = runtime
        self._space = space_folder(runtime, store)
        self._ringer = DoorbellRinger(store, runtime)
        self._ears: dict[Loop, Listener] = {}
        self._idle: Listener | None = None
        """Kept for the next bell, on any loop, because binding a socket costs more than everything else."""
        self._is_closed = False
        self._guard = threading.Lock()
        self._pid = os.getpid()

    def ring(self, topics: Collection[Topic]) -> None:
        names = [topic_name(topic) for topic in topics]
        ears: Sequence[Listener] = ()
        if self._pid == os.getpid():  # in a forked child these are the parent's, which gets datagrams
            with self._guard:
                ears = tuple(self._ears.values())
        self._ringer.ring_besides(names, [ear.socket_name for ear in ears])
        # Listeners in this process are rung without a socket; last, because they begin to run at once.
        for ear in ears:
            ear.hear(names)

    def listen(self, topics: Collection[Topic]) -> "BellSubscription":
        return BellSubscription(self, frozenset(topic_name(topic) for topic in topics))

    def begin(self, topics: frozenset[str]) -> tuple[Listener, DoorbellBell]:
        """Add a bell on the running loop."""
        try:
            ear = self._ear_on(asyncio.get_running_loop())
            bell = DoorbellBell(ear, topics)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            ear.add(bell)
        except OSError as error:
            self.end(ear, bell)
            raise self._unusable(error) from error
        return ear, bell

    def end(self, ear: Listener, bell: DoorbellBell) -> None:
        """Remove a bell."""
        ear.discard(bell)
        self._retire(ear)

    async def close(self) -> None:
        with self._guard:
            self._is_closed = True
            ears, self._ears = self._ears, {}
            idle, self._idle = self._idle, None
        self._ringer.close()
        if idle is not None:
            idle.close()
        here = asyncio.get_running_loop()
        for loop, ear in ears.items():
            if loop is here or loop.is_closed():
                ear.close()
            else:
                loop.call_soon_threadsafe(ear.close)

    def _ear_on(self, loop: Loop) -> Listener:
        if self._pid != os.getpid():
            self._start_over()
        with self._guard:
            if self._is_closed:
                raise StoreClosed
            for gone in [known for known in self._ears if known.is_closed()]:
                self._ears.pop(gone).close()
            ear = self._ears.get(loop)
            if ear is None:
                ear = self._ears[loop] = self._idle or Listener(self._runtime, self._space)
                self._idle = None
                ear.attach(loop)
            return ear

    def _start_over(self) -> None:
        """Reset the state in a forked child: the sockets are the parent's, and a thread of the parent may have held the
        lock."""
        self._guard = threading.Lock()
        self._pid = os.getpid()
        idle = () if self._idle is None else (self._idle,)
        for ear in (*self._ears.values(), *idle):
            ear.close()
        self._ears.clear()
        self._idle = None

    def _retire(self, ear: Listener) -> None:
        with self._guard:
            if ear.has_bells or ear.loop is None or self._ears.get(ear.loop) is not ear:
                return
            del self._ears[ear.loop]
            ear.detach()
            if self._idle is None:
                self._idle = ear
            else:
                ear.close()

    def _unusable(self, error: OSError) -> RuntimeFolderUnusable:
        return RuntimeFolderUnusable(self._runtime, error.strerror or str(error))


class BellSubscription:
    """A context whose bell exists from entering until leaving it."""

    __slots__ = ("_ends", "_topics", "_wakeups")

    def __init__(self, wakeups: DoorbellWakeups, topics: frozenset[str]) -> None:
        self._wakeups = wakeups
        self._topics = topics
        self._ends: tuple[Listener, DoorbellBell] | None = None

    async def __aenter__(self) -> DoorbellBell:
        self._ends = self._wakeups.begin(self._topics)
        return self._ends[1]

    async def __aexit__(self, *_: object) -> None:
        if self._ends is not None:
            self._wakeups.end(*self._ends)
