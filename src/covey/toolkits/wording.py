"""Wording of answers: texts of others are put on one line and made harmless, and lists are limited."""

from collections.abc import Sequence
from typing import Final

from covey.core.text.escape import one_line

MANY_NAMES: Final = 20
"""The maximal number of names in an answer; the rest is counted."""

LONG: Final = 200
"""The maximal number of characters of a text in a sentence."""


def said(text: str, longest: int = LONG) -> str:
    """Return a text of another agent on one line, clipped, for use in an answer."""
    return one_line(clipped(text, longest))


def clipped(text: str, longest: int = LONG) -> str:
    """Return at most `longest` characters of a text, with an ellipsis for the rest."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence; a long list is cut, and says so."""
    more = f" and {len(names) - MANY_NAMES} more" if len(names) > MANY_NAMES else ""
    return ", ".join(names[:MANY_NAMES]) + more


def indented(text: str) -> str:
    """Indent lines of others below a line of ours, so that they can be told apart."""
    return "\n".join(f"  {line}" for line in text.split("\n"))
