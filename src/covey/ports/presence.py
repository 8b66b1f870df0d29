"""Presence: the liveness of the processes and locks that hold sessions."""

from collections.abc import Sequence
from typing import Protocol

from covey.core.ancestry import Ancestor
from covey.core.session import Holder


class Liveness(Protocol):
    """Locks and processes of this machine."""

    def hold(self) -> Holder:
        """Return the holder of this process, which is held as long as the process lives. It is the same for all its
        sessions in one space."""
        ...

    def process(self, pid: int) -> Holder | None:
        """Return the holder for a running process, or None if there is no such process."""
        ...

    def ancestors(self) -> Sequence[Ancestor]:
        """Return the ancestors of this process, its parent first, as far as they are visible."""
        ...

    def is_held(self, holder: Holder) -> bool:
        """Tell whether the holder's lock is held, or its process runs and is the same one (id and start time)."""
        ...

    def close(self) -> None:
        """Release the holder of this process: from now on it is not held."""
        ...
