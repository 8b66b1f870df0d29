"""Worker processes of a contract: started together, read, and killed; and the main function that runs in each.

A worker opens the space, reports that it is ready, waits for a start signal and does its job. It sends each result as
JSON immediately.
"""

import asyncio
import json
import os
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Timer

from covey.core.json import Json
from covey.testing.factories import Locator, silent
from covey.testing.jobs import LIVENESS_JOBS, STORE_JOBS, WAKEUPS_JOBS


def work(pipe: Connection, environ: Mapping[str, str], job: str, factory: str, argument: str, *rest: str) -> None:
    """Do one job, with the environment variables of the test process."""
    os.environ.clear()
    os.environ.update(environ)
    with pipe:
        asyncio.run(_work(pipe, job, Locator(factory, argument), *rest))


async def _work(pipe: Connection, job: str, locator: Locator, *rest: str) -> None:
    def tell(result: Json) -> None:
        pipe.send_bytes(json.dumps(result).encode())

    def ready() -> None:
        tell("ready")
        pipe.recv_bytes()  # the start signal comes when all workers are ready

    if job in STORE_JOBS:
        async with locator.store(silent) as store:
            ready()
            await STORE_JOBS[job](store, tell, *rest)
    elif job in WAKEUPS_JOBS:
        async with locator.wakeups() as wakeups:
            ready()
            await WAKEUPS_JOBS[job](wakeups, tell, *rest)
    else:
        liveness = locator.liveness()
        ready()
        LIVENESS_JOBS[job](liveness, tell, *rest)
        pipe.recv_bytes()  # the process must keep its holder until it is killed


LIMIT = 40.0
"""The seconds after which a worker that has not ended is killed, so that no test waits for ever."""

_FRESH = get_context("forkserver")
"""Each worker is forked from a process with one thread and no open resources. Modules named by `set_forkserver_preload`
are imported once in that process, instead of once in each worker."""


class WorkerProcess:
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
def started(*workers: WorkerProcess) -> Generator[Sequence[WorkerProcess]]:
    """Wait until all workers have opened the space, and start them at once. At the end, close all of them."""
    with ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.wait_until_ready()
        for worker in workers:
            worker.go()
        yield workers
