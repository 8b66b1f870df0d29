"""Timestamps on the wire."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from covey.core.times import format_instant, parse_instant
from tests.core.strategies import instants

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
inside = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001 - a zone comes with the offsets


@given(instants)
def test_an_instant_is_written_in_full(at: datetime) -> None:
    assert format_instant(at) == at.isoformat(timespec="microseconds")
    assert parse_instant(format_instant(at)) == at


@given(inside, offsets)
def test_every_zone_is_written_in_utc(at: datetime, zone: timezone) -> None:
    zoned = at.replace(tzinfo=zone)
    assert format_instant(zoned) == zoned.astimezone(UTC).isoformat(timespec="microseconds")


@given(st.lists(instants, min_size=2, max_size=2))
def test_texts_sort_as_instants_do(pair: list[datetime]) -> None:
    assert [format_instant(at) for at in sorted(pair)] == sorted(format_instant(at) for at in pair)
