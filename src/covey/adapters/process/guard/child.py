"""The program's process: forked ahead of time by its guardian, and turned into the program by `exec`.

The fork is the most expensive part of a start. So the process exists before its program is known.
"""

import errno
import os
import signal
from collections.abc import Mapping
from typing import Final, NamedTuple, NoReturn

from covey.adapters.process.guard.folder import write
from covey.adapters.process.guard.protocol import ExecCall, read_call
from covey.adapters.process.guard.tree import die_with

_RESET: Final = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
"""Signals whose default action is restored. `exec` keeps ignored signals ignored: those of the guardian, of Python, or
of the parent of our owner (a shell ignores some for background jobs). A program expects the defaults."""

NO_INTERPRETER: Final = "interpreter"
COMMAND: Final = "command"
CWD: Final = "cwd"
FOLDER: Final = "folder"
PROCESS: Final = "process"
"""The steps at which a start can fail."""

_NOTHING: Final = ExecCall(b"", (b"",), {b"PATH": b""}).written()
_PIECE: Final = 65536


class StartRefused(Exception):
    """The program could not be started; none of its code has run."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(what, number)
        self.what = what
        self.number = number


class ProgramProcess(NamedTuple):
    """The program's process. The descriptors read its outputs, and never block."""

    pid: int
    stdout: int
    stderr: int


class PreforkedProcess:
    """A process with a session of its own that waits for its program."""

    def __init__(self, *not_inherited: int) -> None:
        order_read, self._order = os.pipe()
        self._told, told_write = os.pipe()
        self._stdout, out_write = os.pipe()
        self._stderr, err_write = os.pipe()
        guardian = os.getpid()
        self._pid = os.fork()
        if not self._pid:
            for descriptor in (self._order, *not_inherited):
                os.close(descriptor)
            _wait_and_become(guardian, order_read, told_write, out_write, err_write)
        for descriptor in (order_read, told_write, out_write, err_write):
            os.close(descriptor)

    def become(self, call: bytes, stdin: str) -> ProgramProcess:
        """Turn the process into the program, which reads the file `stdin`; the program runs when this returns."""
        try:
            write(self._order, os.fsencode(stdin) + b"\0" + call)
        except OSError:  # the process was killed
            self.dismiss()
            raise StartRefused(PROCESS, errno.EAGAIN) from None
        os.close(self._order)
        told = os.read(self._told, 100).decode()  # empty if exec succeeded, which closes the pipe
        os.close(self._told)
        if told:
            os.waitpid(self._pid, 0)
            what, _, number = told.partition(" ")
            raise StartRefused(what, int(number))
        os.set_blocking(self._stdout, False)
        os.set_blocking(self._stderr, False)
        return ProgramProcess(self._pid, self._stdout, self._stderr)

    def dismiss(self) -> None:
        """End the process without a program."""
        os.close(self._order)
        os.waitpid(self._pid, 0)


def _wait_and_become(guardian: int, orders: int, told: int, stdout: int, stderr: int) -> NoReturn:
    """Run in the child: wait for the order, then exec the program, or report the failure and exit."""
    try:
        die_with(guardian)
        os.setsid()
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _become(_NOTHING, b"")  # a rehearsal: memory is copied on first write, so that cost is paid ahead of time too
        pieces: list[bytes] = []
        while piece := os.read(orders, _PIECE):
            pieces.append(piece)
        stdin, separator, call = b"".join(pieces).partition(b"\0")
        if separator:
            what, number = _become(call, stdin)
            os.write(told, f"{what} {number}".encode())
    finally:
        os._exit(0)


def _become(content: bytes, stdin: bytes) -> tuple[str, int]:
    """Exec the program; return the step and the errno of a failure."""
    call = read_call(content)
    try:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
    except OSError as error:
        return FOLDER, error.errno or 0
    try:
        os.chdir(call.cwd)
    except OSError as error:
        return CWD, error.errno or 0
    problem = COMMAND, errno.ENOENT
    for candidate in _candidates(call.argv[0], call.env):
        try:
            os.execve(candidate, call.argv, call.env)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                problem = COMMAND, error.errno or 0
            elif os.path.lexists(candidate):  # the file exists, but the interpreter in its first line does not
                problem = NO_INTERPRETER, errno.ENOENT
    return problem


def _candidates(command: bytes, env: Mapping[bytes, bytes]) -> list[bytes]:
    if b"/" in command:
        return [command]
    return [os.path.join(folder, command) for folder in env.get(b"PATH", os.fsencode(os.defpath)).split(b":")]
