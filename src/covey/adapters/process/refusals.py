"""Why a program could not be started, as an error."""

import errno
import json
import os

from covey.adapters.process.guard import child
from covey.core.errors import CoveyError, Invalid, LauncherUnavailable, ProgramNotExecutable, ProgramNotFound
from covey.ports.launcher import Program

_TOO_MUCH = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)
"""What is wrong with the system and not with the program."""


def error(program: Program, content: bytes) -> CoveyError:
    """Return the error for what a guardian says."""
    refusal = json.loads(content)
    what, number = str(refusal["what"]), int(refusal["errno"])
    reason = os.strerror(number)
    command = program.argv[0]
    if what == child.PROCESS or number in _TOO_MUCH:
        return LauncherUnavailable(reason)
    if what == child.CWD:
        return Invalid("cwd", program.cwd, reason)
    if what == child.FOLDER:
        return Invalid("folder", program.folder, "it belongs to another run" if number == errno.EEXIST else reason)
    if what == child.NO_INTERPRETER:
        return ProgramNotExecutable(command, "the interpreter that its first line names is missing")
    if number in (errno.ENOENT, errno.ENOTDIR):
        return ProgramNotFound(command)
    return ProgramNotExecutable(command, reason)
