"""Counts as text: a number with the singular or plural of a noun."""

from collections.abc import Iterable, Sequence
from typing import Final


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 message`, `2,000 messages`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


LONGEST: Final = 100
"""The longest name that is compared: a longer one is no typing error, and takes long to compare."""

CLOSE: Final = 0.7
"""The share of letters that match, in order, in two names that are close."""


def closest(wanted: str, known: Iterable[str], limit: int = 3) -> Sequence[str]:
    """Return the known names that are like `wanted`, the most similar first."""
    from difflib import SequenceMatcher  # late: its import takes 7 ms, and only an unknown name needs it

    length = len(wanted)
    if not 0 < length <= LONGEST:
        return ()
    # One wrong letter is always forgiven: in a name of two or three it is more than the usual share.
    enough = max(0.5, min(CLOSE, (length - 1) / length))
    matcher = SequenceMatcher(b=wanted.lower(), autojunk=False)
    scored: list[tuple[float, str]] = []
    for name in known:
        matcher.set_seq1(name.lower())
        # The quick ratio is an upper bound, so few names are compared in full.
        if matcher.quick_ratio() >= enough and (ratio := matcher.ratio()) >= enough:
            scored.append((-ratio, name))
    return [name for _, name in sorted(scored)[:limit]]
