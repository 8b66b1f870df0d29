"""The supervision of a run by its guardian, from the program's start to the record of its end.

The program's two outputs are read as they arrive, stored, and forwarded.
"""

import json
import os
import select
import signal
import time
from collections import deque
from typing import Final

from covey.adapters.process.guard import folder, protocol, tree
from covey.adapters.process.guard.child import ProgramProcess
from covey.adapters.process.guard.folder import TAIL, keep, write
from covey.adapters.process.guard.protocol import Order, OwnerConnection
from covey.adapters.process.guard.tree import SignalPipe


class StoredOutput:
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

    def __init__(self, child: ProgramProcess, place: str, limit: int, live: OwnerConnection) -> None:
        stdout, stderr = (StoredOutput(os.path.join(place, name), limit) for name in (folder.STDOUT, folder.STDERR))
        self._live = live
        self._open = {child.stdout: (stdout, protocol.OUT), child.stderr: (stderr, protocol.ERR)}
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


class Reaper:
    """The reaper of this process's children. `status` is the program's wait status, once it has ended."""

    def __init__(self, program: int) -> None:
        self._program = program
        self.status: int | None = None
        self.is_alone = False
        """True if no child is left."""

    def reap(self) -> bool:
        """Reap all children that have ended, and tell whether none is left."""
        try:
            while ended := os.waitpid(-1, os.WNOHANG):
                pid, status = ended
                if not pid:
                    break
                if pid == self._program:
                    self.status = status
        except ChildProcessError:
            self.is_alone = True
        return self.is_alone


SWEEP: Final = signal.SIGUSR1
"""The signal that makes a guardian end its run at once."""

KILL_LIMIT_S: Final = 5.0
"""Time limit of killed processes to disappear."""
FAREWELL_S: Final = 1.0
"""Time limit of the owner to receive the outcome; later the owner reads it from the folder."""

EXITED: Final = "exited"
STOPPED: Final = "stopped"
TIMED_OUT: Final = "timed-out"
ABANDONED: Final = "abandoned"


class SupervisedRun:
    """A started program. `owner` becomes readable when the owner is dead; a negative value means that there is no such
    descriptor."""

    def __init__(
        self,
        order: Order,
        child: ProgramProcess,
        outputs: Outputs,
        live: OwnerConnection,
        waking: SignalPipe,
        owner: int,
        started_at: float,
    ) -> None:
        self._order = order
        self._group = child.pid
        self._reaper = Reaper(child.pid)
        self._outputs = outputs
        self._live = live
        self._waking = waking
        self._owner = owner
        self._started_at = started_at
        self._limit_at = None if order.time_limit is None else time.monotonic() + order.time_limit
        self._kill_at: float | None = None
        self._is_cut = False
        self._ending = EXITED
        self._why = ""
        ids = {"pid": child.pid, "guardian": os.getpid(), "started_at": started_at}
        live.tell(protocol.STARTED, json.dumps(ids).encode())

    def watch(self) -> None:
        """Serve the owner, the outputs and the signals until the process tree is gone or has to be killed."""
        while not self._is_over():
            for descriptor in self._ready():
                if descriptor == self._live.fileno():
                    self._listen()
                elif descriptor == self._owner:
                    self._abandon()
                elif descriptor == self._waking.fileno():
                    if SWEEP in self._waking.take():
                        self._abandon()
                else:
                    self._outputs.read(descriptor)
            self._mind_the_time()
            self._reaper.reap()

    def _is_over(self) -> bool:
        """Tell whether the wait is over. After a request to terminate, the rest of the tree has its grace period even
        if the program itself has ended. Processes that a program leaves at its own exit have none."""
        has_ended = self._reaper.status is not None
        return self._is_cut or self._reaper.is_alone or (has_ended and self._kill_at is None)

    def _ready(self) -> list[int]:
        poll = select.poll()
        for descriptor in (*self._outputs.open, self._waking.fileno()):
            poll.register(descriptor, select.POLLIN)
        poll.register(self._live.fileno(), select.POLLIN | (select.POLLOUT if self._live.has_waiting else 0))
        if self._owner >= 0:
            poll.register(self._owner, select.POLLIN)
        until = self._kill_at if self._kill_at is not None else self._limit_at
        wait = None if until is None else max(0.0, until - time.monotonic()) * 1000 + 1
        return [descriptor for descriptor, _ in poll.poll(wait)]

    def _listen(self) -> None:
        self._live.flush()
        heard = self._live.hear()
        if heard is None:
            self._abandon()
            return
        for kind, content in heard:
            if kind == protocol.STOP:
                self._terminate(STOPPED, content.decode())
            elif kind == protocol.KILL:
                self._abandon()

    def _mind_the_time(self) -> None:
        now = time.monotonic()
        if self._kill_at is not None:
            self._is_cut = self._is_cut or now >= self._kill_at
        elif self._limit_at is not None and now >= self._limit_at:
            self._terminate(TIMED_OUT, "")

    def _terminate(self, ending: str, why: str) -> None:
        if self._kill_at is not None or self._reaper.status is not None:
            return
        self._ending, self._why = ending, why
        self._kill_at = time.monotonic() + self._order.grace
        tree.signal_tree(self._group, signal.SIGTERM)
        tree.signal_tree(self._group, signal.SIGCONT)  # a suspended process could not handle it otherwise

    def _abandon(self) -> None:
        self._is_cut = True
        if self._ending == EXITED:
            self._ending = ABANDONED

    def end(self) -> None:
        """Kill the rest of the tree, record the outcome, and only then report it."""
        survivors = tree.end_tree(self._group, self._reaper.reap, KILL_LIMIT_S)
        ended_at = time.time()
        totals = self._outputs.close()
        code, number = _split(self._reaper.status)
        if self._ending == ABANDONED and (code is not None or number not in (None, signal.SIGKILL)):
            self._ending = EXITED  # the program ended before it was killed
        outcome: folder.Outcome = {
            "run": self._order.run,
            "ending": self._ending,
            "exit_code": code,
            "signal": number,
            "why": self._why,
            "totals": totals,
            "started_at": self._started_at,
            "ended_at": ended_at,
            "survivors": survivors,
        }
        folder.record(self._order.folder, outcome)
        self._live.tell(protocol.DONE, json.dumps(outcome).encode())
        self._live.finish(FAREWELL_S)


def _split(status: int | None) -> tuple[int | None, int | None]:
    """Return the exit code, or the signal, of a wait status."""
    if status is None:
        return None, None
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)
