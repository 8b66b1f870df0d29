"""Arguments as tools take them that are lenient: what is blank counts as left out, and waits have a limit."""

from collections.abc import Sequence
from typing import Final, cast

from covey.toolkits.tool import Arguments

LONGEST_WAIT: Final = 25.0
"""Seconds. Clients give up on a tool call that takes half a minute."""


def given_text(arguments: Arguments, name: str) -> str | None:
    """Return a text that was given."""
    value = arguments.get(name)
    return value if isinstance(value, str) and value.strip() else None


def given_texts(arguments: Arguments, name: str) -> Sequence[str]:
    """Return the texts that were given."""
    values = cast(Sequence[str], arguments.get(name) or ())
    return [value for value in values if value.strip()]


def given_seconds(arguments: Arguments, name: str, usual: float) -> float:
    """Return how long to wait: what was given, within what is possible."""
    value = arguments.get(name)
    return min(max(value, 0.0), LONGEST_WAIT) if isinstance(value, int | float) else usual
