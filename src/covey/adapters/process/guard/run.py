"""The supervision of a run by its guardian, from the program's start to the record of its end."""

import json
import os
import select
import signal
import time
from typing import Final

from covey.adapters.process.guard import folder, frames, tree
from covey.adapters.process.guard.child import Child
from covey.adapters.process.guard.live import Live
from covey.adapters.process.guard.order import Order
from covey.adapters.process.guard.output import Outputs
from covey.adapters.process.guard.waking import Waking


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


class Run:
    """A started program. `owner` becomes readable when the owner is dead; a negative value means that there is no such
    descriptor."""

    def __init__(
        self, order: Order, child: Child, outputs: Outputs, live: Live, waking: Waking, owner: int, started_at: float
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
        live.tell(frames.STARTED, json.dumps(ids).encode())

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
            if kind == frames.STOP:
                self._terminate(STOPPED, content.decode())
            elif kind == frames.KILL:
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
        self._live.tell(frames.DONE, json.dumps(outcome).encode())
        self._live.finish(FAREWELL_S)


def _split(status: int | None) -> tuple[int | None, int | None]:
    """Return the exit code, or the signal, of a wait status."""
    if status is None:
        return None, None
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)
