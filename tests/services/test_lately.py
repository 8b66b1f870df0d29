"""What a model was shown last, and from whom: a hint that is forgotten in time."""

from covey.adapters.memory import MemoryStore
from covey.core.address import EVERYONE, Address, parse_address
from covey.core.names import SPACE, AgentName
from covey.services.attention.recently_shown import MOST, SECONDS, RecentlyShown
from covey.testing import a_message_id, a_session_id
from covey.testing.fakes import HandClock

ME = a_session_id(1)
ALICE, BOB = AgentName("alice"), AgentName("bob")


def to(*names: str) -> tuple[Address, ...]:
    return tuple(map(parse_address, names))


def test_what_is_written_is_led_by_what_was_last_shown_from_there() -> None:
    lately = RecentlyShown(HandClock(), MemoryStore())
    lately.shown(ME, [(ALICE, a_message_id(1)), (BOB, a_message_id(2)), (ALICE, a_message_id(3))])
    assert lately.led_by(ME, to("alice")) == lately.led_by(ME, to("agent:alice:main")) == a_message_id(3)
    assert lately.led_by(ME, to("bob")) == a_message_id(2)
    assert lately.led_by(ME, (EVERYONE,)) == lately.led_by(ME, to("bob", "carol")) == a_message_id(3)
    assert lately.led_by(ME, to("carol")) is None
    assert lately.led_by(a_session_id(2), to("alice")) is None
    assert lately.led_by(None, to("alice")) is None


def test_the_space_leads_to_nothing_and_nobody_without_a_session_is_led() -> None:
    lately = RecentlyShown(HandClock(), MemoryStore())
    lately.shown(ME, [(SPACE, a_message_id(1))])
    lately.shown(None, [(ALICE, a_message_id(2))])
    assert lately.led_by(ME, (EVERYONE,)) is None


def test_it_is_forgotten_in_time_and_at_its_bound() -> None:
    clock = HandClock()
    lately = RecentlyShown(clock, MemoryStore())
    lately.shown(ME, [(ALICE, a_message_id(1))])
    clock.advance(SECONDS - 1)
    assert lately.led_by(ME, to("alice")) is not None
    clock.advance(1)
    assert lately.led_by(ME, to("alice")) is None
    lately.shown(ME, [(AgentName(f"agent{n}"), a_message_id(n)) for n in range(MOST + 5)])
    assert lately.led_by(ME, to("agent0")) is None
    assert lately.led_by(ME, to(f"agent{MOST}")) == a_message_id(MOST)
