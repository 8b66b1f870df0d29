"""The clock that is turned by hand, and ids that count."""

from datetime import UTC, datetime

import pytest

from covey.testing import CountingIds, HandClock, at
from covey.testing.contracts import ClockContract, IdsContract


class TestHandClock(ClockContract):
    @pytest.fixture
    def clock(self) -> HandClock:
        return HandClock()


class TestCountingIds(IdsContract):
    @pytest.fixture
    def ids(self) -> CountingIds:
        return CountingIds()


def test_the_clock_stands_still_until_it_is_moved() -> None:
    clock = HandClock(datetime(2026, 5, 1, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2026, 5, 1, tzinfo=UTC)
    assert clock.monotonic() == clock.monotonic() == 0


def test_when_time_passes_both_scales_move() -> None:
    clock = HandClock()
    assert clock.advance(1.5) == clock.now() == at(1.5)
    assert clock.monotonic() == 1.5


def test_when_the_clock_is_set_no_time_passes() -> None:
    clock = HandClock()
    clock.advance(10)
    assert clock.jump(-3600) == clock.now() == at(-3590)
    assert clock.jump(7200) == at(3610)
    assert clock.monotonic() == 10


def test_time_does_not_pass_backwards() -> None:
    with pytest.raises(ValueError):
        HandClock().advance(-1)


def test_two_runs_make_the_same_ids() -> None:
    one, other = CountingIds(), CountingIds()
    assert [one.message_id(at(1)), one.session_id(), one.offer_id(), one.secret()] == [
        other.message_id(at(1)), other.session_id(), other.offer_id(), other.secret(),
    ]  # fmt: skip
