"""The folder of a run: its files, its lock, and the outcome, which is written atomically."""

import json
import os
from contextlib import suppress
from typing import Final, NamedTuple

from covey.disk.file_lock import FileLock
from covey.disk.files import sync, sync_folder

HOLD: Final = "guardian"
"""The lock file, created once and locked while the run's guardian lives. It holds the run, and the process ids of the
guardian and of the program."""
STDIN: Final = "stdin"
STDOUT: Final = "stdout"
STDERR: Final = "stderr"
TAIL: Final = ".tail"
"""Suffix of the file with the end of an output, which is kept apart from its beginning."""
OUTCOME: Final = "outcome.json"
COMPLAINT: Final = "guardian.log"

Outcome = dict[str, object]


class RunClaim:
    """A folder that is claimed for one run, and the files created in it so far."""

    def __init__(self, folder: str, run: str) -> None:
        """Claim the folder, and create it if it is missing; raise FileExistsError if a run has or had it."""
        self._folder = folder
        self._is_new = make(folder)
        self._made: list[str] = []
        self._lock = FileLock(os.path.join(folder, HOLD), os.O_EXCL)
        self._made.append(HOLD)
        if not self._lock.take_at_once():
            raise FileExistsError(folder)  # a sweep has the lock, and wants no run here
        write(self._lock.descriptor, f"{run}\n{os.getpid()}\n".encode())

    def name(self, program: int) -> None:
        """Record the program's process id, for sweeps."""
        write(self._lock.descriptor, b"%d\n" % program)

    def create(self, name: str) -> int:
        """Create a file in the folder and return its descriptor; raise FileExistsError if the name exists."""
        descriptor = os.open(os.path.join(self._folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._made.append(name)
        return descriptor

    def undo(self) -> None:
        """Remove the created files, and the folder if it was created."""
        with suppress(OSError):
            for name in reversed(self._made):
                os.unlink(os.path.join(self._folder, name))
            if self._is_new:
                os.rmdir(self._folder)


class ClaimHolder(NamedTuple):
    """The claim on a folder. A process id is 0 if there is no such process yet."""

    run: str = ""
    guardian: int = 0
    program: int = 0


def held(descriptor: int) -> ClaimHolder:
    """Return the claim on the folder, from its lock file."""
    run, *processes = os.pread(descriptor, 4096, 0).decode("ascii", "replace").split("\n")[:-1] or [""]
    return ClaimHolder(run, *map(int, processes))


def make(folder: str) -> bool:
    """Create the folder for this user alone, and tell whether it was missing."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return False
    return True


def record(folder: str, outcome: Outcome) -> bool:
    """Write the outcome atomically and durably; tell whether that succeeded."""
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
    """Write, sync and close; tell whether that succeeded."""
    try:
        write(descriptor, content)
        sync(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def write(descriptor: int, content: bytes) -> None:
    """Write the whole content."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def recorded(folder: str) -> Outcome | None:
    """Return the recorded outcome, or None."""
    try:
        with open(os.path.join(folder, OUTCOME), "rb") as file:
            return json.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, ValueError):  # missing or unreadable
        return None
