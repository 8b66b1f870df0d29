"""Names that are close to a mistyped one."""

from collections.abc import Iterable, Sequence
from typing import Final

LONGEST: Final = 100
"""What is longer is no mistyped name, and would take long to compare."""

CLOSE: Final = 0.65
"""Two names are close if two thirds of their letters match, in order."""


def closest(wanted: str, known: Iterable[str], limit: int = 3) -> Sequence[str]:
    """Return the known names that are like `wanted`, the most similar first."""
    from difflib import SequenceMatcher  # late: it takes 7 ms, and only errors need it

    if len(wanted) > LONGEST:
        return ()
    matcher = SequenceMatcher(b=wanted.lower(), autojunk=False)
    scored: list[tuple[float, str]] = []
    for name in known:
        matcher.set_seq1(name.lower())
        # The quick ratio is an upper bound: few names are compared letter by letter.
        if matcher.quick_ratio() >= CLOSE and (ratio := matcher.ratio()) >= CLOSE:
            scored.append((-ratio, name))
    return [name for _, name in sorted(scored)[:limit]]
