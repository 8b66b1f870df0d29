"""Worker processes of a contract: started together, read, and killed."""

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
"""The seconds after which a worker that has not ended is killed, so that no test waits for ever."""

_FRESH = get_context("forkserver")
"""Each worker is forked from a process with one thread and no open resources. Modules named by `set_forkserver_preload`
are imported once in that process, instead of once in each worker."""


class Worker:
    """One worker process that does one job."""

    def __init__(self, job: str, locator: Locator, *arguments: str) -> None:
        self._pipe, theirs = _FRESH.Pipe()
        with theirs:
            self._process = _FRESH.Process(target=work, args=(theirs, dict(os.environ), job, *locator, *arguments))
            self._process.start()
        self._watchdog = Timer(LIMIT, self._process.kill)
        self._watchdog.start()

    def wait_until_ready(self) -> None:
        """Wait until the worker has opened the space."""
        assert self.next_result() == "ready", "a worker could not open the space"

    def go(self) -> None:
        """Send the start signal."""
        self._pipe.send_bytes(b"go")

    def next_result(self) -> Json:
        """Wait for the next result. Return None if the worker has ended, or was killed while it sent a result."""
        try:
            return json.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None

    def results(self) -> Iterator[Json]:
        """Yield the worker's results until it ends."""
        while (result := self.next_result()) is not None:
            yield result

    def finish(self) -> list[Json]:
        """Wait for the worker's end and return its results. Its exit code must be 0."""
        told = [*self.results()]
        self._process.join(LIMIT)
        assert self._process.exitcode == 0, "a worker failed"
        return told

    def kill(self) -> None:
        """Kill the worker, and return when the process is gone."""
        self._process.kill()
        self._process.join(LIMIT)

    def stop(self) -> None:
        """Suspend the worker with SIGSTOP: the process stays alive, and does nothing."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def close(self) -> None:
        """Kill the worker if it has not ended, and release its resources."""
        self.kill()
        self._watchdog.cancel()
        self._watchdog.join()
        self._process.close()
        self._pipe.close()


@contextmanager
def started(*workers: Worker) -> Generator[Sequence[Worker]]:
    """Wait until all workers have opened the space, and start them at once. At the end, close all of them."""
    with ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.wait_until_ready()
        for worker in workers:
            worker.go()
        yield workers
