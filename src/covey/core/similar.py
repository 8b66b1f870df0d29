"""Similar names: suggestions for a mistyped name."""

from collections.abc import Iterable, Sequence
from typing import Final

LONGEST: Final = 100
"""The longest name that is compared: a longer one is no typing error, and takes long to compare."""


def closest(wanted: str, known: Iterable[str], limit: int = 3) -> Sequence[str]:
    """Return the known names within a few edits of `wanted`, nearest first."""
    if len(wanted) > LONGEST:
        return ()
    far = max(1, len(wanted) // 3)
    scored = sorted((edits(wanted.lower(), name.lower()), name) for name in known)
    return [name for distance, name in scored[:limit] if distance <= far]


def edits(a: str, b: str) -> int:
    """Return the edit distance of two texts: the number of letters to add, drop or change."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
