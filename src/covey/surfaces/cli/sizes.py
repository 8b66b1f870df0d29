"""Sizes as people read them."""

from typing import Final

_UNITS: Final = ("kB", "MB", "GB", "TB")
_STEP: Final = 1000


def size(count: int) -> str:
    """Return a number of bytes in one unit: 512 B, 4.1 kB, 2.0 GB."""
    if count < _STEP:
        return f"{count} B"
    amount = float(count)
    for unit in _UNITS:
        amount /= _STEP
        if amount < _STEP or unit == _UNITS[-1]:
            return f"{amount:.1f} {unit}"
    raise AssertionError  # the last unit takes everything
