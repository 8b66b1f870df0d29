"""The folder of a run: what is in it, who holds it, and the outcome that is written once and whole."""

import json
import os
from contextlib import suppress
from typing import Final, NamedTuple

from covey.disk.file_lock import FileLock
from covey.disk.syncing import sync, sync_folder

HOLD: Final = "guardian"
"""Made once, and locked for as long as the run's guardian lives. In it are the run, and the process ids of the guardian
and of the program."""
STDIN: Final = "stdin"
STDOUT: Final = "stdout"
STDERR: Final = "stderr"
TAIL: Final = ".tail"
"""What follows the name of an output whose end is kept apart from its beginning."""
OUTCOME: Final = "outcome.json"
COMPLAINT: Final = "guardian.log"

Outcome = dict[str, object]


class Claim:
    """A folder that was taken for one run, with what was made in it so far."""

    def __init__(self, folder: str, run: str) -> None:
        """Take the folder, and make it where it is missing. FileExistsError where it is or was somebody's."""
        self._folder = folder
        self._is_new = make(folder)
        self._made: list[str] = []
        self._lock = FileLock(os.path.join(folder, HOLD), os.O_EXCL)
        self._made.append(HOLD)
        if not self._lock.take_at_once():
            raise FileExistsError(folder)  # a sweep was faster, and wants no run here
        write(self._lock.descriptor, f"{run}\n{os.getpid()}\n".encode())

    def name(self, program: int) -> None:
        """Write down the program's process, for those who sweep."""
        write(self._lock.descriptor, b"%d\n" % program)

    def create(self, name: str) -> int:
        """Return a new file of the folder. FileExistsError where there is one of that name."""
        descriptor = os.open(os.path.join(self._folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._made.append(name)
        return descriptor

    def undo(self) -> None:
        """Leave the folder as it was."""
        with suppress(OSError):
            for name in reversed(self._made):
                os.unlink(os.path.join(self._folder, name))
            if self._is_new:
                os.rmdir(self._folder)


class Held(NamedTuple):
    """Who has taken a folder. A number is 0 where there is no such process yet."""

    run: str = ""
    guardian: int = 0
    program: int = 0


def held(descriptor: int) -> Held:
    """Return who has taken the folder, as the file HOLD in it says."""
    run, *processes = os.pread(descriptor, 4096, 0).decode("ascii", "replace").split("\n")[:-1] or [""]
    return Held(run, *map(int, processes))


def make(folder: str) -> bool:
    """Make the folder, for this user alone, and tell whether it was missing."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return False
    return True


def record(folder: str, outcome: Outcome) -> bool:
    """Write the outcome, whole or not at all, so that it outlasts a crash; tell whether that worked."""
    path = os.path.join(folder, OUTCOME)
    part = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        is_whole = keep(descriptor, json.dumps(outcome).encode())
        if is_whole:
            os.rename(part, path)
            with suppress(OSError):
                sync_folder(folder)
        return is_whole
    except OSError:
        return False


def keep(descriptor: int, content: bytes = b"") -> bool:
    """Write, make durable and close; tell whether that worked."""
    try:
        write(descriptor, content)
        sync(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def write(descriptor: int, content: bytes) -> None:
    """Write all of it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def recorded(folder: str) -> Outcome | None:
    """Return the outcome, or None where none is recorded."""
    try:
        with open(os.path.join(folder, OUTCOME), "rb") as file:
            return json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):  # none, or none that can be read
        return None
