"""Listening to wake-ups: bells that ring on an event loop when a datagram for one of their topics arrives."""

import asyncio
import os
import threading
from collections.abc import Collection, Sequence

from covey.adapters.doorbell.ear import DoorbellBell, Listener
from covey.adapters.doorbell.folders import RuntimeFolderUnusable, space_folder, topic_name
from covey.adapters.doorbell.ring import DoorbellRinger
from covey.core.errors import StoreClosed
from covey.core.ids import Topic

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
        self._ringer.ring_besides(names, [ear.door_name for ear in ears])
        # Listeners in this process are rung without a socket; last, because they begin to run at once.
        for ear in ears:
            ear.hear(names)

    def listen(self, topics: Collection[Topic]) -> "Listening":
        return Listening(self, frozenset(topic_name(topic) for topic in topics))

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


class Listening:
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
