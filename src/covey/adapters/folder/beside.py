"""Work that overlaps with waiting for the disk."""

from collections.abc import Callable
from typing import Protocol

Work = Callable[[], None]
"""A function that waits for the disk, or runs while another thread waits for the disk."""


class Beside(Protocol):
    """A worker that runs one function at a time, concurrently with its owner if possible. For one calling thread at a
    time."""

    def begin(self, work: Work) -> None:
        """Start `work`. The previous function has ended when `work` starts."""
        ...

    def end(self) -> None:
        """Block until the function has ended, if one is running, and raise its exception."""
        ...


class Gate(Protocol):
    """Commits that have to be on the disk before the folder shows them."""

    def begin(self) -> None:
        """Start waiting for the disk, unless that has begun: the caller will wait for something else meanwhile."""
        ...

    def end(self) -> None:
        """Block until the commits are on the disk. Raise Unavailable if they can't be written there."""
        ...

    def tell(self) -> None:
        """Send the wake-ups of the commits, unless they were sent: when the caller has nothing left to do but wait."""
        ...


class OpenGate:
    """`Gate` for commits that are on the disk already."""

    def begin(self) -> None:
        return

    def end(self) -> None:
        return

    def tell(self) -> None:
        return


class OneByOne:
    """`Beside` in the calling thread."""

    def begin(self, work: Work) -> None:
        work()

    def end(self) -> None:
        return
