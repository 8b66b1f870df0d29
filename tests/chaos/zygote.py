"""The zygote: a warm process that forks workers, and kills them on command.

It has imported everything and opened nothing, so a new worker costs some milliseconds. Only the zygote kills, because a
process that its parent has not waited for keeps its id: no other process is ever hit.

The argument is the module whose `run` a worker runs. Commands arrive on standard input, one a line, and each is
answered with a line: `start <what to run>` with the process id; `kill <process id>` and `end <process id>` (SIGTERM,
for an orderly end) with a description of the end. At the end of the input the zygote kills the remaining workers and
ends.
"""

import gc
import os
import pkgutil
import signal
import sys
from collections.abc import Callable
from importlib import import_module

import covey.adapters
import covey.core
import covey.ports
import covey.services
import covey.surfaces

Run = Callable[[str], None]


def main(module: str) -> None:
    """Serve commands until the input ends."""
    run: Run = import_module(module).run
    _warm_up()
    gc.freeze()
    children: set[int] = set()
    try:
        for line in sys.stdin:
            command, _, argument = line.strip().partition(" ")
            if command == "start":
                children.add(pid := _start(run, argument))
                print(pid, flush=True)
            else:
                children.remove(pid := int(argument))
                print(_end(pid, signal.SIGKILL if command == "kill" else signal.SIGTERM), flush=True)
    finally:
        for pid in children:
            _end(pid, signal.SIGKILL)


def _warm_up() -> None:
    """Import the modules that Covey loads late, so that the workers need not."""
    for package in (covey.core, covey.ports, covey.services, covey.adapters, covey.surfaces):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def _start(run: Run, what: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        # A worker must not keep the pipes of the zygote open.
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        run(what)
        code = 0
    finally:
        os._exit(code)


def _end(pid: int, number: signal.Signals) -> str:
    os.kill(pid, number)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return "killed" if code == -signal.SIGKILL else f"ended by itself with {code}"


if __name__ == "__main__":
    main(sys.argv[1])
