"""Entries of a registry: Covey's entries have the fields of a card, and any foreign entry is read or refused."""

from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from covey.core.directory.card import Card, Presence, check_card
from covey.core.errors import Invalid
from covey.core.formats.layout import alias_of
from covey.core.formats.mailbox import card_of, entry_of, heard_at
from covey.core.json import Json
from covey.testing import START
from tests.core.foreign import ENTRY_FIELDS
from tests.core.strategies import json_values, texts

CARD = Card("writes code", ("code_write", "review"), ("researcher",), quota=2)


def test_an_entry_has_the_nine_fields_of_a_card() -> None:
    entry = entry_of("coder", CARD, Presence.BUSY, ["t1"], START, START)
    assert entry.keys() == ENTRY_FIELDS
    assert (entry["agent_id"], entry["status"], entry["current_tasks"]) == ("coder", "busy", ["t1"])
    assert heard_at(entry) == START


def test_a_card_is_restored_from_its_entry() -> None:
    assert card_of(entry_of("coder", CARD, Presence.IDLE, [], START, START)) == CARD


@given(json_values | st.dictionaries(st.sampled_from(sorted(ENTRY_FIELDS)), json_values | st.lists(texts)))
def test_any_entry_makes_a_valid_card_or_is_invalid(entry: Json) -> None:
    heard_at(entry)
    with suppress(Invalid):
        card = card_of(entry)
        assert check_card(card) == card


def test_an_oversized_entry_makes_a_valid_card() -> None:
    long = "x" * 100_000
    card = card_of(
        {"description": long, "capabilities": [long] * 5_000, "allow_from": [long + str(n) for n in range(999)]}
    )
    assert check_card(card) == card


def test_foreign_names_in_allow_from_are_replaced_by_their_aliases() -> None:
    assert card_of({"allow_from": ["研究員", "coder", 5]}).allow_from == (alias_of("研究員"), "coder")
    assert card_of({"allow_from": ["coder", "*"]}).allow_from == ("*",)
    assert card_of({"allow_from": []}).allow_from == ()
    assert card_of({}).allow_from == ("*",)


def test_a_heartbeat_without_a_zone_is_in_utc() -> None:
    assert heard_at({"last_heartbeat": "2026-04-26T10:05:00"}) == datetime(2026, 4, 26, 10, 5, tzinfo=UTC)
    assert heard_at({"last_heartbeat": 1745659200}) == datetime(2025, 4, 26, 9, 20, tzinfo=UTC)
    assert heard_at({"last_heartbeat": 1745659200000}) == datetime(2025, 4, 26, 9, 20, tzinfo=UTC)
    assert heard_at({}) is None
