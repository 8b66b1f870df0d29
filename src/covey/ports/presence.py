"""Presence: whether what holds a session is still there."""

from collections.abc import Sequence
from typing import Protocol

from covey.core.ancestry import Ancestor
from covey.core.session import Holder


class Liveness(Protocol):
    """Locks and processes of this machine."""

    def hold(self) -> Holder:
        """Return what this process holds for as long as it lives; the same for all its sessions in one space."""
        ...

    def process(self, pid: int) -> Holder | None:
        """Return the holder that stands for a running process, or None where there is no such process."""
        ...

    def ancestors(self) -> Sequence[Ancestor]:
        """Return the processes that this one descends from, its parent first, as far as they can be seen."""
        ...

    def is_held(self, holder: Holder) -> bool:
        """Tell whether the holder's lock is held, or its process runs and is the same one (id and start time)."""
        ...

    def close(self) -> None:
        """Let go: from now on the holder is not held."""
        ...
