"""The nursery: the test's interface to workers that a zygote forks."""

import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
ANSWER_LIMIT_S = 60.0


class Nursery:
    """Starts workers and ends them. Only the nursery may kill a worker, so that no other process can have its id."""

    def __init__(self, zygote: "subprocess.Popen[bytes]") -> None:
        self._zygote = zygote
        self._unread = b""

    def start(self, what: str) -> int:
        """Start a worker and return its process id."""
        return int(self._ask(f"start {what}"))

    def kill(self, pid: int) -> str:
        """Kill a worker. Return `killed`, or a description of its end if it had already ended."""
        return self._ask(f"kill {pid}")

    def end(self, pid: int) -> str:
        """Stop a worker in order. Return a description of its end."""
        return self._ask(f"end {pid}")

    def _ask(self, line: str) -> str:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write(line.encode() + b"\n")
        self._zygote.stdin.flush()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._zygote.stdout], [], [], ANSWER_LIMIT_S)
            assert ready, f"the zygote did not answer to {line} in time"
            chunk = os.read(self._zygote.stdout.fileno(), 4096)
            assert chunk, "the zygote is gone"
            self._unread += chunk
        answer, _, self._unread = self._unread.partition(b"\n")
        return answer.decode()


@contextmanager
def nursery(module: str, folder: Path) -> Generator[Nursery]:
    """Provide a nursery for workers that run the `run` of a module. All workers are always gone at the end."""
    environment = {**os.environ, "COVEY_RUNTIME_DIR": str(folder / "bells")}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.zygote", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    ) as zygote:
        try:
            yield Nursery(zygote)
            assert zygote.stdin is not None
            zygote.stdin.close()
            assert zygote.wait(ANSWER_LIMIT_S) == 0
        finally:
            if zygote.poll() is None:
                # The end of its input makes the zygote kill its workers first. If it hangs, it is killed itself, and
                # its workers end because their parent is gone.
                if zygote.stdin is not None:
                    zygote.stdin.close()
                try:
                    zygote.wait(ANSWER_LIMIT_S)
                except subprocess.TimeoutExpired:
                    zygote.kill()
