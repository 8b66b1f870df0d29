"""Contracts of the clock and of ids."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from covey.core.ids import parse_message_id, parse_offer_id, parse_session_id
from covey.ports.clock import Clock, Ids
from covey.testing.records import START, at


class ClockContract:
    """Fixture: `clock`."""

    def test_the_time_is_in_utc(self, clock: Clock) -> None:
        assert clock.now().utcoffset() == timedelta(0)

    def test_monotonic_seconds_never_shrink(self, clock: Clock) -> None:
        seconds = [clock.monotonic() for _ in range(1000)]
        assert seconds == sorted(seconds)


class IdsContract:
    """Fixture: `ids`."""

    def test_a_message_id_is_the_milliseconds_and_a_uuid(self, ids: Ids) -> None:
        now = at(12.345)
        message_id = parse_message_id(ids.message_id(now))
        milliseconds, _, uuid = message_id.partition("-")
        assert int(milliseconds) == int(START.timestamp()) * 1000 + 12_345
        assert parse_session_id(uuid) == uuid

    def test_message_ids_sort_by_time(self, ids: Ids) -> None:
        made = [ids.message_id(at(milliseconds / 1000)) for milliseconds in range(2000)]
        assert made == sorted(made)

    def test_session_and_offer_ids_are_uuids(self, ids: Ids) -> None:
        session_id, offer_id = ids.session_id(), ids.offer_id()
        assert parse_session_id(session_id) == session_id
        assert parse_offer_id(offer_id) == offer_id

    def test_secrets_differ(self, ids: Ids) -> None:
        assert len({ids.secret() for _ in range(1000)}) == 1000
        assert all(len(ids.secret()) >= 16 for _ in range(10))

    def test_parallel_makers_never_make_the_same_id(self, ids: Ids) -> None:
        def make(_worker: int) -> list[str]:
            return [
                make() for _ in range(500) for make in (lambda: ids.message_id(START), ids.session_id, ids.offer_id)
            ]

        with ThreadPoolExecutor(8) as pool:
            made = [made for batch in pool.map(make, range(8)) for made in batch]
        assert len(set(made)) == len(made) == 8 * 500 * 3
