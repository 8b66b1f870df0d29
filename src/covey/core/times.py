"""Instants on the wire: UTC with microseconds, in one fixed format that sorts as text."""

from datetime import UTC, datetime
from functools import lru_cache

from covey.core.errors import Invalid


@lru_cache(maxsize=256)
def format_instant(at: datetime) -> str:
    """Return `at` as 2026-04-30T14:00:00.000000+00:00. One commit writes the same instant several times, hence the
    cache."""
    # Not by isoformat, which spends half its time on the offset.
    utc = at.astimezone(UTC)
    minute = _minute(utc.year, utc.month, utc.day, utc.hour, utc.minute)
    return f"{minute}:{utc.second:02d}.{utc.microsecond:06d}+00:00"


@lru_cache(maxsize=16)
def _minute(year: int, month: int, day: int, hour: int, minute: int) -> str:
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}"


def parse_instant(text: object) -> datetime:
    """Parse an instant: an ISO 8601 text with a zone."""
    if not isinstance(text, str):
        raise Invalid("time", text, "use ISO 8601 with a zone")
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid("time", text, "use ISO 8601 with a zone") from None
    return aware(at)


def aware(at: object) -> datetime:
    """Return `at` in UTC. Raise Invalid for a time without a zone, which is ambiguous."""
    if not isinstance(at, datetime):
        raise Invalid("time", at, "use a datetime with a zone")
    if at.utcoffset() is None:
        raise Invalid("time", at.isoformat(), "it needs a zone")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Invalid("time", at.isoformat(), "in UTC it is before year 1 or after year 9999") from None
