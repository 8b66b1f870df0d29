"""Processes that a contract starts, lets run together, listens to, and kills."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Timer

from covey.core.json import Json
from covey.testing.opening import Locator

LIMIT = 40.0
"""After so many seconds a worker that has not ended is killed, so that no test waits for ever."""


class Worker:
    """One process that does one job."""

    def __init__(self, job: str, locator: Locator, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "covey.testing.worker", job, *locator, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        )
        self._watchdog = Timer(LIMIT, self._process.kill)
        self._watchdog.start()

    def wait_until_ready(self) -> None:
        """Wait until it has opened the space."""
        assert self.next_result() == "ready", "a worker could not open the space"

    def go(self) -> None:
        """Let it do its job."""
        assert self._process.stdin
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()

    def next_result(self) -> Json:
        """Wait for what it tells next; None where it has ended, and where it was killed in the middle of a line."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def results(self) -> Iterator[Json]:
        """Go through what it tells until it ends."""
        while (result := self.next_result()) is not None:
            yield result

    def finish(self) -> list[Json]:
        """Wait for its end and return what it told; it must have ended well."""
        told = [*self.results()]
        assert self._process.wait(LIMIT) == 0, "a worker failed"
        return told

    def kill(self) -> None:
        """Kill it where it stands, and return when it is gone."""
        self._process.kill()
        self._process.wait(LIMIT)

    def stop(self) -> None:
        """Stop it where it stands: it lives, and does nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        """Kill it where it has not ended, and let go of everything."""
        self.kill()
        self._watchdog.cancel()
        self._watchdog.join()
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdout.close()
        self._process.stdin.close()


@contextmanager
def started(*workers: Worker) -> Generator[Sequence[Worker]]:
    """Wait until all have opened the space, let them go at once, and see that none is left."""
    with ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.wait_until_ready()
        for worker in workers:
            worker.go()
        yield workers
