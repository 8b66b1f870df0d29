"""Overflow policies: the message that a full inbox evicts."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.directory.card import EVICTION_ORDER, PEERS_CAPACITY, Capacity, Overflow, parse_capacity
from covey.core.errors import Invalid
from covey.core.ledger.message import Kind


def victim(inbox: Sequence[Kind], overflow: Overflow) -> Kind | None:
    """Return the kind of the message that a full inbox, oldest first, evicts."""
    for kinds in EVICTION_ORDER[overflow]:
        for kind in inbox:
            if kind in kinds:
                return kind
    return None


inboxes = st.lists(st.sampled_from(Kind), min_size=1, max_size=10)


@given(inboxes)
def test_hold_evicts_nothing(inbox: list[Kind]) -> None:
    assert victim(inbox, Overflow.HOLD) is None


@given(inboxes)
def test_first_in_first_out_evicts_the_oldest(inbox: list[Kind]) -> None:
    assert victim(inbox, Overflow.FIRST_IN_FIRST_OUT) is inbox[0]


@given(inboxes)
def test_evict_oldest_evicts_notifies_before_answers_before_requests_and_never_a_task(inbox: list[Kind]) -> None:
    given_up = victim(inbox, Overflow.EVICT_OLDEST)
    rank = {Kind.NOTIFY: 0, Kind.RESPONSE: 1, Kind.UPDATE: 1, Kind.REQUEST: 2}
    ranks = [rank[kind] for kind in inbox if kind is not Kind.TASK]
    assert (given_up is None) == (not ranks)
    if given_up is not None:
        assert rank[given_up] == min(ranks)


def test_every_policy_has_its_order() -> None:
    assert set(EVICTION_ORDER) == set(Overflow)
    assert Capacity(64, Overflow.FIRST_IN_FIRST_OUT) == PEERS_CAPACITY


@given(st.integers(1, 10**6), st.sampled_from(Overflow))
def test_a_capacity_is_parsed_back_from_its_fields(limit: int, overflow: Overflow) -> None:
    assert parse_capacity(limit, str(overflow)) == Capacity(limit, overflow)


@pytest.mark.parametrize(
    ("limit", "overflow"), [(0, "hold"), (-1, "hold"), (True, "hold"), ("5", "hold"), (1.0, "hold"), (5, "drop")]
)
def test_a_wrong_capacity_is_refused(limit: object, overflow: object) -> None:
    with pytest.raises(Invalid):
        parse_capacity(limit, overflow)
