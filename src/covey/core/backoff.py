"""Backoff: the pauses between tries of something that fails for a while."""

from collections.abc import Iterator
from typing import NamedTuple


class Backoff(NamedTuple):
    """Pauses that double from `first` up to `longest`. The unit is the caller's."""

    first: float
    longest: float

    def after(self, failures: int) -> float:
        """Return the pause after so many failures in a row, at least one."""
        # Beyond 60 doublings every limit is reached, and a float may overflow.
        return min(self.longest, self.first * 2 ** min(60, max(0, failures - 1)))

    def pauses(self) -> Iterator[float]:
        """Yield the pauses of one row of failures, without end."""
        pause = min(self.first, self.longest)
        while True:
            yield pause
            pause = min(self.longest, 2 * pause)
