"""Instants on the wire: UTC, microseconds, one fixed form that sorts as text."""

from datetime import UTC, datetime

from covey.core.errors import Invalid


def format_instant(at: datetime) -> str:
    """Return `at` as 2026-04-30T14:00:00.000000+00:00."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def parse_instant(text: object) -> datetime:
    """Return the instant that an ISO 8601 text with a zone stands for."""
    if not isinstance(text, str):
        raise Invalid("time", text, "use ISO 8601 with a zone")
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid("time", text, "use ISO 8601 with a zone") from None
    return aware(at)


def aware(at: datetime) -> datetime:
    """Return `at` in UTC; a time without a zone is refused because nobody knows when it is."""
    if at.tzinfo is None:
        raise Invalid("time", at.isoformat(), "it needs a zone")
    return at.astimezone(UTC)
