"""Lenient arguments: blank texts count as left out, and waits have a limit."""

from collections.abc import Sequence
from typing import Final, cast

from covey.toolkits.tool import Arguments

LONGEST_WAIT: Final = 25.0
"""Seconds. Clients give up on a tool call that takes half a minute."""


def given_text(arguments: Arguments, name: str) -> str | None:
    """Return a text argument; None if it is missing or blank."""
    value = arguments.get(name)
    return value if isinstance(value, str) and value.strip() else None


def given_texts(arguments: Arguments, name: str) -> Sequence[str]:
    """Return the texts of a list argument that are not blank."""
    values = cast(Sequence[str], arguments.get(name) or ())
    return [value for value in values if value.strip()]


def given_seconds(arguments: Arguments, name: str, usual: float) -> float:
    """Return the seconds to wait: the given value within the limits, or the default."""
    value = arguments.get(name)
    return min(max(value, 0.0), LONGEST_WAIT) if isinstance(value, int | float) else usual
