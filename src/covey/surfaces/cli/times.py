"""Times as people write and read them: 10m, 2h, 3d, or ISO with a zone."""

import re
from argparse import ArgumentTypeError
from datetime import datetime, timedelta
from typing import Final

from covey.core.errors import Invalid
from covey.core.times import parse_instant

LONGEST: Final = timedelta(days=36_500)
"""Added to or subtracted from the present, this span stays within the calendar."""

_SPAN = r"([0-9]+)(s|m|h|d)"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_span(text: str) -> timedelta:
    """Parse a time span: 90s, 10m, 2h, 3d."""
    match = re.fullmatch(_SPAN, text)
    if match is None:
        raise Invalid("time span", text, "use 90s, 10m, 2h or 3d")
    try:
        span = timedelta(**{_UNITS[match[2]]: int(match[1])})
    except (OverflowError, ValueError):  # too many days, or too many digits for a number
        span = timedelta.max
    if span > LONGEST:
        raise Invalid("time span", text, f"use at most {LONGEST.days}d")
    return span


def age(at: datetime, now: datetime) -> str:
    """Return the age of an instant in one unit: 5s, 3m, 2h, 4d. An instant in the future has the age 0s."""
    seconds = max(0, int((now - at).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def parse_when(text: str, now: datetime) -> datetime:
    """Return the instant that `text` means. Spans count back from now."""
    return now - parse_span(text) if re.fullmatch(_SPAN, text) else parse_instant(text)


def parse_deadline(text: str, now: datetime) -> datetime:
    """Return the instant that `text` means. Spans count forward from now."""
    if re.fullmatch(_SPAN, text):
        return now + parse_span(text)
    try:
        return parse_instant(text)
    except Invalid:
        raise Invalid("deadline", text, "use 90s, 10m, 2h, 3d or an ISO time with a zone") from None


def positive(text: str) -> int:
    """Parse a whole number of 1 or more."""
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)
