"""Background supervision: a separate process starts a child, watches over it, and ends with it.

The process reads the task from stdin. It reports through a pipe, in one line of JSON, if the child was started. It has
no terminal, so that events on a terminal can't end it.
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
    """The child was not started, and the reason has been shown."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def start(call: Call, words: Sequence[str], task: str) -> RunId:
    """Have a process in the background start a child, and return its run.

    If that fails, the error is shown and Failed is raised.
    """
    hearing, telling = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "covey", *words, "--supervise", str(telling)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(telling,),
            start_new_session=True,
            # Not among the arguments, which every user of the machine can read: the URL may have a login.
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
            pass  # the process has ended already; the pipe has the reason, if there is one
        try:
            told = pipe.read()
        except KeyboardInterrupt:
            process.terminate()  # Ctrl-C does not reach the process; when terminated, it undoes its work so far
            raise
    if not told:
        raise LauncherUnavailable(f"what was to watch over the child has ended, with exit code {process.wait()}")
    said = json.loads(told)
    if "run" in said:
        process.returncode = 0  # the process outlives this command; with a return code set, Popen does not warn of it
        return parse_run_id(said["run"])
    if call.output.as_json:
        call.output.json(json.loads(said["out"]))
    else:
        call.output.note(said["err"].rstrip("\n"))
    raise Failed(said["code"])


def reporter(descriptor: int) -> Callable[[RunId], None]:
    """Return a function that reports the started child, for the process in the background."""
    os.set_inheritable(descriptor, False)
    return lambda run_id: _tell(descriptor, {"run": run_id})


def report_failure(descriptor: int, error: CoveyError, as_json: bool) -> int:
    """Report why no child was started, in the output format of the caller. Return the exit code."""
    out, err = io.StringIO(), io.StringIO()
    Output(as_json, out, err).error(error)
    _tell(descriptor, {"code": exit_code(error), "out": out.getvalue(), "err": err.getvalue()})
    return exit_code(error)


def _tell(descriptor: int, said: dict[str, object]) -> None:
    with open(descriptor, "w") as pipe:
        pipe.write(json.dumps(said))
