"""In the background: a process of its own starts a child, watches over it, and ends with it.

It gets the task on stdin, and tells in one line of JSON, through a pipe, whether there is a child now. It has no
terminal, so that nothing that happens there ends it.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from covey.core.errors import CoveyError, LauncherUnavailable
from covey.core.work.run import RunId, parse_run_id
from covey.engines import engine_of
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import exit_code
from covey.surfaces.cli.terminal.output import Output


class Failed(Exception):
    """There is no child, and somebody has been told why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def start(call: Call, words: Sequence[str], task: str) -> RunId:
    """Have a child started by a process in the background; return its run. What goes wrong is shown, and Failed."""
    hearing, telling = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "covey", *words, "--supervise", str(telling)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(telling,),
            start_new_session=True,
            # Not among the words, which everybody on the machine can read: it may have a login.
            env={**os.environ, "COVEY_STORE": engine_of(call.url).absolute(call.url).with_login()},
        )
    except OSError as error:
        os.close(hearing)
        raise LauncherUnavailable(error.strerror or str(error)) from error
    finally:
        os.close(telling)
    assert process.stdin is not None
    with open(hearing) as pipe:  # noqa: PTH123 - it is a descriptor
        try:
            process.stdin.write(task.encode(errors="replace"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already; why stands in the pipe, if anywhere
        try:
            told = pipe.read()
        except KeyboardInterrupt:
            process.terminate()  # it hears no keys; what it has begun it takes back
            raise
    if not told:
        raise LauncherUnavailable(f"what was to watch over the child has ended, with exit code {process.wait()}")
    said = json.loads(told)
    if "run" in said:
        process.returncode = 0  # it goes on, and is nobody's to wait for: so nothing warns of it
        return parse_run_id(said["run"])
    if call.output.as_json:
        call.output.json(json.loads(said["out"]))
    else:
        call.output.note(said["err"].rstrip("\n"))
    raise Failed(said["code"])


def reporter(descriptor: int) -> Callable[[RunId], None]:
    """Return what tells that there is a child, for the process in the background."""
    os.set_inheritable(descriptor, False)
    return lambda run_id: _tell(descriptor, {"run": run_id})


def report_failure(descriptor: int, error: CoveyError, as_json: bool) -> int:
    """Tell why there is none, as whoever wants it would say it; return the exit code."""
    out, err = io.StringIO(), io.StringIO()
    Output(as_json, out, err).error(error)
    _tell(descriptor, {"code": exit_code(error), "out": out.getvalue(), "err": err.getvalue()})
    return exit_code(error)


def _tell(descriptor: int, said: dict[str, object]) -> None:
    with open(descriptor, "w") as pipe:
        pipe.write(json.dumps(said))
