"""Times as people write and read them: 10m, 2h, 3d, or ISO with a zone."""

import re
from argparse import ArgumentTypeError
from datetime import datetime, timedelta
from typing import Final

from covey.core.errors import Invalid
from covey.core.times import parse_instant

LONGEST: Final = timedelta(days=36_500)
"""From any present on, it neither ends after the calendar's last year nor began before its first."""

_SPAN = r"([0-9]+)(s|m|h|d)"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_span(text: str) -> timedelta:
    """Return how long `text` says: 90s, 10m, 2h, 3d."""
    match = re.fullmatch(_SPAN, text)
    if match is None:
        raise Invalid("time span", text, "use 90s, 10m, 2h or 3d")
    try:
        span = timedelta(**{_UNITS[match[2]]: int(match[1])})
    except (OverflowError, ValueError):  # more days than there are; more digits than a number may have
        span = timedelta.max
    if span > LONGEST:
        raise Invalid("time span", text, f"use at most {LONGEST.days}d")
    return span


def age(at: datetime, now: datetime) -> str:
    """Return how long ago something was, in one unit: 5s, 3m, 2h, 4d. What is to come is no older than 0s."""
    seconds = max(0, int((now - at).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def parse_when(text: str, now: datetime) -> datetime:
    """Return the instant that `text` means, spans counting back from now."""
    return now - parse_span(text) if re.fullmatch(_SPAN, text) else parse_instant(text)


def parse_deadline(text: str, now: datetime) -> datetime:
    """Return the instant that `text` means, spans counting on from now."""
    if re.fullmatch(_SPAN, text):
        return now + parse_span(text)
    try:
        return parse_instant(text)
    except Invalid:
        raise Invalid("deadline", text, "use 90s, 10m, 2h, 3d or an ISO time with a zone") from None


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)
