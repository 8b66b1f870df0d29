"""The pulse of the follower: while the pulse beats, the replica is up to date with the log.

The pulse is a time in a file that all processes of the machine share. A read checks the pulse instead of the log. If
the pulse has stopped, the read asks the log.
"""

import os
from struct import Struct
from time import monotonic
from typing import Final

from covey.disk.file_lock import FileLock

FRESH_S: Final = 5.0
"""Seconds for which a beat is valid. If the follower stops without notice, commits of other machines in that time may
be invisible here. Otherwise they are invisible only until their record arrives."""

_TIME: Final = Struct("d")


class Pulse:
    """The pulse beside the replica at `path`. At most one process at a time is the follower."""

    def __init__(self, path: str) -> None:
        self._lock = FileLock(f"{path}-follow")

    def is_own(self) -> bool:
        """Become the follower, if there is no other; tell whether this process is the follower."""
        return self._lock.take_at_once()

    def beat(self) -> None:
        """Declare that all entries of the log are applied."""
        os.pwrite(self._lock.descriptor, _TIME.pack(monotonic()), 0)

    def stop(self) -> None:
        """Declare that the state of the replica is unknown."""
        os.pwrite(self._lock.descriptor, _TIME.pack(0.0), 0)

    def is_beating(self) -> bool:
        noted = os.pread(self._lock.descriptor, _TIME.size, 0)
        return len(noted) == _TIME.size and 0 <= monotonic() - _TIME.unpack(noted)[0] <= FRESH_S

    def close(self) -> None:
        self._lock.close()
