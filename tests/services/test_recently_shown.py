"""Messages that a model was shown recently, by sender: a hint that expires."""

from covey.adapters.memory import MemoryStore
from covey.core.identity import EVERYONE, Address, parse_address
from covey.core.names import SPACE, AgentName
from covey.services.attention.recently_shown import MOST, SECONDS, RecentlyShown
from covey.testing import a_message_id, a_session_id
from covey.testing.fakes import HandClock

ME = a_session_id(1)
ALICE, BOB = AgentName("alice"), AgentName("bob")


def to(*names: str) -> tuple[Address, ...]:
    return tuple(map(parse_address, names))


def test_a_message_is_led_by_the_last_one_shown_from_its_recipient() -> None:
    recently_shown = RecentlyShown(HandClock(), MemoryStore())
    recently_shown.shown(ME, [(ALICE, a_message_id(1)), (BOB, a_message_id(2)), (ALICE, a_message_id(3))])
    assert (
        recently_shown.led_by(ME, to("alice")) == recently_shown.led_by(ME, to("agent:alice:main")) == a_message_id(3)
    )
    assert recently_shown.led_by(ME, to("bob")) == a_message_id(2)
    assert recently_shown.led_by(ME, (EVERYONE,)) == recently_shown.led_by(ME, to("bob", "carol")) == a_message_id(3)
    assert recently_shown.led_by(ME, to("carol")) is None
    assert recently_shown.led_by(a_session_id(2), to("alice")) is None
    assert recently_shown.led_by(None, to("alice")) is None


def test_a_message_of_the_space_leads_nothing_and_a_reader_without_a_session_is_not_led() -> None:
    recently_shown = RecentlyShown(HandClock(), MemoryStore())
    recently_shown.shown(ME, [(SPACE, a_message_id(1))])
    recently_shown.shown(None, [(ALICE, a_message_id(2))])
    assert recently_shown.led_by(ME, (EVERYONE,)) is None


def test_the_hint_expires_and_its_number_of_entries_is_limited() -> None:
    clock = HandClock()
    recently_shown = RecentlyShown(clock, MemoryStore())
    recently_shown.shown(ME, [(ALICE, a_message_id(1))])
    clock.advance(SECONDS - 1)
    assert recently_shown.led_by(ME, to("alice")) is not None
    clock.advance(1)
    assert recently_shown.led_by(ME, to("alice")) is None
    recently_shown.shown(ME, [(AgentName(f"agent{n}"), a_message_id(n)) for n in range(MOST + 5)])
    assert recently_shown.led_by(ME, to("agent0")) is None
    assert recently_shown.led_by(ME, to(f"agent{MOST}")) == a_message_id(MOST)
