"""Liveness in memory: a simulated machine on which a test can end any process."""

from collections.abc import Sequence
from itertools import count

from covey.core.directory.ancestry import Ancestor
from covey.core.directory.session import Holder


class MemoryMachine:
    """The live locks and processes of a simulated machine. A lock's name is never used again, so a dead lock stays
    dead."""

    def __init__(self) -> None:
        self.held: set[Holder] = set()
        self._numbers = count(1)

    def new_lock(self) -> Holder:
        """Return a lock that is held from now on."""
        holder = Holder(lock=f"memory-{next(self._numbers)}")
        self.held.add(holder)
        return holder


class MemoryLiveness:
    """One process of a simulated machine. Without `machine`, it is alone on its own machine."""

    def __init__(self, machine: MemoryMachine | None = None) -> None:
        self._machine = machine or MemoryMachine()
        self._mine: Holder | None = None
        self.descent: Sequence[Ancestor] = ()
        """The ancestors of this process, set by a test."""

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
        """Start a process. The same id with another start is another process."""
        holder = Holder(pid=pid, started=started)
        self._machine.held.add(holder)
        return holder

    def kill(self, holder: Holder) -> None:
        """End the process or the lock of a holder."""
        self._machine.held.discard(holder)
