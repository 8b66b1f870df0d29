"""What is done while the disk is waited for."""

from collections.abc import Callable
from typing import Protocol

Work = Callable[[], None]
"""Something that waits for the disk, or is done while somebody else does."""


class Beside(Protocol):
    """One work at a time, beside what its owner does. For one thread at a time."""

    def begin(self, work: Work) -> None:
        """Begin with it; the one before it is over then."""
        ...

    def end(self) -> None:
        """Return when it is over, if there is one; what it raised is raised here."""
        ...


class Gate(Protocol):
    """What has to be on the disk before anything is shown."""

    def begin(self) -> None:
        """Begin to wait for it, if that was not done yet: something else will be waited for at the same time."""
        ...

    def end(self) -> None:
        """Return when it is there. Unavailable where it can't be."""
        ...

    def tell(self) -> None:
        """Tell of it those who wait for it, if that was not done yet: when nothing else is left to do but to wait."""
        ...


class OpenGate:
    """`Gate` where everything is on the disk that will be shown."""

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
