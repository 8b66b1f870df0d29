"""Exit codes, and which error has which."""

from typing import Final

from covey.core.errors import CoveyError, Invalid, NotFound, Unavailable

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
UNAVAILABLE: Final = 4
REJECTED: Final = 5
"""What was asked for got an answer, and the answer is no."""
FAILED: Final = 6
"""What was handed over was tried, and came to nothing."""
TIMED_OUT: Final = 7
STOPPED: Final = 8
LOST: Final = 9
"""A child took longer than it may, was stopped by somebody, or went with what watched over it."""
INTERRUPTED: Final = 130


def exit_code(error: CoveyError) -> int:
    """Return the exit code for an error: a wrong value is usage, everything else goes by its branch."""
    if isinstance(error, Invalid):
        return USAGE
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return REFUSED
