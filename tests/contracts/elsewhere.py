"""Liveness as another process has it: each object drives a process of its own."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, cast

from covey.adapters.system.liveness import SystemLiveness
from covey.core.ancestry import Ancestor
from covey.core.session import Holder
from covey.ports.presence import Liveness

LIMIT_S = 20.0


class LivenessElsewhere:
    """The `SystemLiveness` of a child process, which ends when this is closed."""

    module = __name__
    """What the child runs; it gets the argument, and serves."""

    def __init__(self, argument: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module, argument], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def hold(self) -> Holder:
        return Holder(*cast(list[Any], self._call("hold")))

    def process(self, pid: int) -> Holder | None:
        answer = self._call("process", pid)
        return None if answer is None else Holder(*cast(list[Any], answer))

    def ancestors(self) -> Sequence[Ancestor]:
        found = cast(list[tuple[list[Any], str, str]], self._call("ancestors"))
        return [Ancestor(Holder(*holder), *names) for holder, *names in found]

    def is_held(self, holder: Holder) -> bool:
        return self._call("is_held", holder) is True

    def close(self) -> None:
        if self._process.poll() is None:
            self._call("close")
            self._process.communicate(timeout=LIMIT_S)

    def _call(self, *call: object) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def serve(liveness: Liveness) -> None:
    """Answer calls, one a line, until the input ends."""
    for line in sys.stdin:
        match json.loads(line):
            case ["hold"]:
                answer: object = liveness.hold()
            case ["process", int(pid)]:
                answer = liveness.process(pid)
            case ["ancestors"]:
                answer = liveness.ancestors()
            case ["is_held", [*holder]]:
                answer = liveness.is_held(Holder(*holder))
            case _:
                answer = liveness.close()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(SystemLiveness(sys.argv[1]))
