"""Presence in memory: an imagined machine, on which a test can let anything die."""

from collections.abc import Sequence
from itertools import count

from covey.core.directory.ancestry import Ancestor
from covey.core.directory.session import Holder


class MemoryMachine:
    """What is alive. A lock's name is never given twice, so the dead stay dead."""

    def __init__(self) -> None:
        self.held: set[Holder] = set()
        self._numbers = count(1)

    def new_lock(self) -> Holder:
        """Return a lock that is held from now on."""
        holder = Holder(lock=f"memory-{next(self._numbers)}")
        self.held.add(holder)
        return holder


class MemoryLiveness:
    """One process of a machine; alone on a machine of its own unless it is given one."""

    def __init__(self, machine: MemoryMachine | None = None) -> None:
        self._machine = machine or MemoryMachine()
        self._mine: Holder | None = None
        self.descent: Sequence[Ancestor] = ()
        """The processes that this one is to descend from."""

    def hold(self) -> Holder:
        if self._mine is None:
            self._mine = self._machine.new_lock()
        return self._mine

    def process(self, pid: int) -> Holder | None:
        return next((holder for holder in self._machine.held if holder.pid == pid), None)

    def ancestors(self) -> Sequence[Ancestor]:
        return [ancestor for ancestor in self.descent if self.is_held(ancestor.holder)]

    def is_held(self, holder: Holder) -> bool:
        return holder in self._machine.held

    def close(self) -> None:
        if self._mine is not None:
            self.kill(self._mine)

    def another(self) -> "MemoryLiveness":
        """Return another process of the same machine."""
        return MemoryLiveness(self._machine)

    def start(self, pid: int, started: str = "0") -> Holder:
        """Let a process run; the same id with another start is another process."""
        holder = Holder(pid=pid, started=started)
        self._machine.held.add(holder)
        return holder

    def kill(self, holder: Holder) -> None:
        """Let what stands behind a holder die; nothing more is heard of it."""
        self._machine.held.discard(holder)
