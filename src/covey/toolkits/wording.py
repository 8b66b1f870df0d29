"""Words inside a sentence of ours: those of others on one line and harmless, and none of them too many."""

from collections.abc import Sequence
from typing import Final

from covey.core.render_escape import one_line

MANY_NAMES: Final = 20
"""So many names stand in an answer; the rest is counted."""

LONG: Final = 200
"""So many characters of a text stand in a sentence."""


def said(text: str, longest: int = LONG) -> str:
    """Return what another agent said of itself, as it may stand in an answer."""
    return one_line(clipped(text, longest))


def clipped(text: str, longest: int = LONG) -> str:
    """Return at most so many characters of a text; what was left out is an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence; a long list is cut, and says so."""
    more = f" and {len(names) - MANY_NAMES} more" if len(names) > MANY_NAMES else ""
    return ", ".join(names[:MANY_NAMES]) + more


def indented(text: str) -> str:
    """Return lines of others below a line of ours: what begins further in is theirs."""
    return "\n".join(f"  {line}" for line in text.split("\n"))
