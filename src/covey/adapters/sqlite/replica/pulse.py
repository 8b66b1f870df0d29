"""The pulse of whoever follows the log for this machine: while it beats, the replica is where the log is.

It is a time in a file that all processes of the machine share. A read looks at it instead of asking the log; where it
has stopped, the read asks.
"""

import os
from struct import Struct
from time import monotonic
from typing import Final

from covey.disk.file_lock import FileLock

FRESH_S: Final = 5.0
"""For how long a beat counts. What another machine commits in that time may be unseen, should everything stop at once;
else only for as long as a record needs to come here."""

_TIME: Final = Struct("d")


class Pulse:
    """Beside the replica at `path`. One process at a time may be the one that follows."""

    def __init__(self, path: str) -> None:
        self._lock = FileLock(f"{path}-follow")

    def is_own(self) -> bool:
        """Become the one that follows, if nobody else is; tell whether it is so."""
        return self._lock.take_at_once()

    def beat(self) -> None:
        """Say that everything that was added to the log is taken in."""
        os.pwrite(self._lock.descriptor, _TIME.pack(monotonic()), 0)

    def stop(self) -> None:
        """Say that nobody knows."""
        os.pwrite(self._lock.descriptor, _TIME.pack(0.0), 0)

    def is_beating(self) -> bool:
        noted = os.pread(self._lock.descriptor, _TIME.size, 0)
        return len(noted) == _TIME.size and 0 <= monotonic() - _TIME.unpack(noted)[0] <= FRESH_S

    def close(self) -> None:
        self._lock.close()
