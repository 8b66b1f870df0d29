"""The main function of a worker process that a contract starts.

The worker opens the space, reports that it is ready, waits for a start signal and does its job. It sends each result as
JSON immediately.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection

from covey.core.json import Json
from covey.testing.jobs import LIVENESS_JOBS, STORE_JOBS, WAKEUPS_JOBS
from covey.testing.opening import Locator, silent


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
