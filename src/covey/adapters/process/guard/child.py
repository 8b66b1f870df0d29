"""The program's process: forked ahead by its guardian, and made the program when the order has come.

Forking is what costs most of a start. So the process is there before it is known what it will be.
"""

import errno
import os
import signal
from collections.abc import Mapping
from typing import Final, NamedTuple, NoReturn

from covey.adapters.process.guard.folder import write
from covey.adapters.process.guard.order import Call, read_call
from covey.adapters.process.guard.tree import die_with

_RESET: Final = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
"""What the guardian, Python, or whoever started our owner ignores (a shell does, for what it runs in the background),
exec would leave so; a program expects the default."""

NO_INTERPRETER: Final = "interpreter"
COMMAND: Final = "command"
CWD: Final = "cwd"
FOLDER: Final = "folder"
PROCESS: Final = "process"
"""What a start can fail at."""

_NOTHING: Final = Call(b"", (b"",), {b"PATH": b""}).written()
_PIECE: Final = 65536


class Refusal(Exception):
    """The program could not be started; nothing of it has run."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(what, number)
        self.what = what
        self.number = number


class Child(NamedTuple):
    """The program. The descriptors are for reading its outputs, and never block."""

    pid: int
    stdout: int
    stderr: int


class Stub:
    """A process with a session of its own that waits for what to become."""

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

    def become(self, call: bytes, stdin: str) -> Child:
        """Make it the program, which reads the file `stdin`; it runs when this returns."""
        try:
            write(self._order, os.fsencode(stdin) + b"\0" + call)
        except OSError:  # it was killed
            self.dismiss()
            raise Refusal(PROCESS, errno.EAGAIN) from None
        os.close(self._order)
        told = os.read(self._told, 100).decode()  # nothing: exec has closed it
        os.close(self._told)
        if told:
            os.waitpid(self._pid, 0)
            what, _, number = told.partition(" ")
            raise Refusal(what, int(number))
        os.set_blocking(self._stdout, False)
        os.set_blocking(self._stderr, False)
        return Child(self._pid, self._stdout, self._stderr)

    def dismiss(self) -> None:
        """Let it go: it is not wanted."""
        os.close(self._order)
        os.waitpid(self._pid, 0)


def _wait_and_become(guardian: int, orders: int, told: int, stdout: int, stderr: int) -> NoReturn:
    """Be the stub, and turn into the program, or say why not and leave."""
    try:
        die_with(guardian)
        os.setsid()
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _become(_NOTHING, b"")  # memory is copied when it is first touched; so do that ahead too
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
    """Become the program; return why that can't be."""
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
            elif os.path.lexists(candidate):  # it is there; what its first line names is not
                problem = NO_INTERPRETER, errno.ENOENT
    return problem


def _candidates(command: bytes, env: Mapping[bytes, bytes]) -> list[bytes]:
    if b"/" in command:
        return [command]
    return [os.path.join(folder, command) for folder in env.get(b"PATH", os.fsencode(os.defpath)).split(b":")]
