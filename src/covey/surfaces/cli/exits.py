"""Exit codes, and their mapping from errors."""

from typing import Final

from covey.core.errors import CoveyError, Invalid, NotFound, Unavailable

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
UNAVAILABLE: Final = 4
REJECTED: Final = 5
"""The request was answered, and the answer is no."""
FAILED: Final = 6
"""The delegated work was tried, and failed."""
TIMED_OUT: Final = 7
STOPPED: Final = 8
LOST: Final = 9
"""The child was stopped after its time limit, was stopped by a caller, or was lost with its supervisor."""
INTERRUPTED: Final = 130


def exit_code(error: CoveyError) -> int:
    """Return the exit code of an error. A wrong value is a usage error; all others go by their branch."""
    if isinstance(error, Invalid):
        return USAGE
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return REFUSED
