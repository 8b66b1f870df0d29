"""What runs in a process that a contract starts: `python -m covey.testing.worker JOB FACTORY ARGUMENT …`.

It opens the space, says that it is ready, waits for a line, does its job, and tells each result as a line of JSON
the moment it has it.
"""

import asyncio
import json
import sys

from covey.core.json import Json
from covey.testing.jobs import LIVENESS_JOBS, STORE_JOBS, WAKEUPS_JOBS
from covey.testing.opening import Locator, silent


def tell(result: Json) -> None:
    """Print a result at once: what was told before a kill counts."""
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def ready() -> None:
    """Say that the space is open, and wait until all the others have said so too."""
    tell("ready")
    sys.stdin.readline()


async def main(job: str, factory: str, argument: str, *rest: str) -> None:
    """Do one job."""
    locator = Locator(factory, argument)
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
        sys.stdin.readline()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
