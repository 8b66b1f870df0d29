"""Times as people write them: 10m, 2h, 3d, or ISO with a zone."""

import re
from datetime import datetime, timedelta

from covey.core.errors import Invalid
from covey.core.times import parse_instant

_SPAN = re.compile(r"([0-9]+)(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_span(text: str) -> timedelta:
    """Return how long `text` says: 90s, 10m, 2h, 3d."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise Invalid("time span", text, "use 90s, 10m, 2h or 3d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def parse_when(text: str, now: datetime) -> datetime:
    """Return the instant that `text` means, spans counting back from now."""
    return now - parse_span(text) if _SPAN.fullmatch(text) else parse_instant(text)
