"""Processes that a contract starts, lets run together, listens to, and kills."""

import json
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from threading import Timer

from covey.core.json import Json
from covey.testing.opening import Locator
from covey.testing.worker import work

LIMIT = 40.0
"""After so many seconds a worker that has not ended is killed, so that no test waits for ever."""

_FRESH = get_context("forkserver")
"""Each is forked from a process that has opened nothing and has one thread. What `set_forkserver_preload` names is
imported there once, and not by each worker anew."""


class Worker:
    """One process that does one job."""

    def __init__(self, job: str, locator: Locator, *arguments: str) -> None:
        self._pipe, theirs = _FRESH.Pipe()
        with theirs:
            self._process = _FRESH.Process(target=work, args=(theirs, dict(os.environ), job, *locator, *arguments))
            self._process.start()
        self._watchdog = Timer(LIMIT, self._process.kill)
        self._watchdog.start()

    def wait_until_ready(self) -> None:
        """Wait until it has opened the space."""
        assert self.next_result() == "ready", "a worker could not open the space"

    def go(self) -> None:
        """Let it do its job."""
        self._pipe.send_bytes(b"go")

    def next_result(self) -> Json:
        """Wait for what it tells next; None where it has ended, and where it was killed in the middle of telling."""
        try:
            return json.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None

    def results(self) -> Iterator[Json]:
        """Go through what it tells until it ends."""
        while (result := self.next_result()) is not None:
            yield result

    def finish(self) -> list[Json]:
        """Wait for its end and return what it told; it must have ended well."""
        told = [*self.results()]
        self._process.join(LIMIT)
        assert self._process.exitcode == 0, "a worker failed"
        return told

    def kill(self) -> None:
        """Kill it where it stands, and return when it is gone."""
        self._process.kill()
        self._process.join(LIMIT)

    def stop(self) -> None:
        """Stop it where it stands: it lives, and does nothing."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def close(self) -> None:
        """Kill it where it has not ended, and let go of everything."""
        self.kill()
        self._watchdog.cancel()
        self._watchdog.join()
        self._process.close()
        self._pipe.close()


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
