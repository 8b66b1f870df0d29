"""Liveness of other processes: each object drives its own process."""

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from covey.core.directory.session import Ancestor, Holder
from covey.ports.directory import Liveness

LIMIT_S = 20.0

_FRESH = get_context("forkserver")

Open = Callable[[str], Liveness]


class LivenessElsewhere:
    """The liveness of a child process, which ends on close."""

    def __init__(self, open_liveness: Open, argument: str) -> None:
        self._pipe, theirs = _FRESH.Pipe()
        with theirs:
            self._process = _FRESH.Process(target=serve, args=(theirs, open_liveness, argument), daemon=True)
            self._process.start()

    def hold(self) -> Holder:
        return self._call("hold")

    def process(self, pid: int) -> Holder | None:
        return self._call("process", pid)

    def ancestors(self) -> Sequence[Ancestor]:
        return self._call("ancestors")

    def is_held(self, holder: Holder) -> bool:
        return self._call("is_held", holder)

    def close(self) -> None:
        if not self._pipe.closed:
            self._call("close")
            self._pipe.close()
            self._process.join(LIMIT_S)
            assert self._process.exitcode == 0
            self._process.close()

    def _call(self, *call: object) -> Any:
        self._pipe.send(call)
        return self._pipe.recv()


def serve(pipe: Connection, open_liveness: Open, argument: str) -> None:
    """Answer calls until the pipe is closed."""
    liveness = open_liveness(argument)
    with pipe:
        while True:
            try:
                name, *arguments = pipe.recv()
            except EOFError:
                return
            pipe.send(getattr(liveness, name)(*arguments))
