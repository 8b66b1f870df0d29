"""Worker processes of the benches: started together, measured over the same seconds."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import cast


def together(module: str, arguments: Sequence[Sequence[str]], lead: float = 1.5) -> list[dict[str, float]]:
    """Run `python -m module start_at …` once for each list of arguments.

    All processes begin at once, and each prints JSON.
    """
    start_at = str(time.time() + lead)
    running = [
        subprocess.Popen([sys.executable, "-m", module, start_at, *more], stdout=subprocess.PIPE, text=True)
        for more in arguments
    ]
    return [cast(dict[str, float], json.loads(process.communicate(timeout=300)[0])) for process in running]


def wait_for(start_at: str) -> None:
    """Sleep until the common start time of all workers."""
    time.sleep(max(0.0, float(start_at) - time.time()))
