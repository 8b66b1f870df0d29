"""The state table of deliveries: every transition, and no transition out of a terminal state."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import IllegalMove
from covey.core.ledger.delivery import MOVES, TERMINAL, WAITING, DeliveryState, Move, moved, state_at
from covey.testing import a_delivery, an_offer_id, at

states = st.sampled_from(DeliveryState)
moves = st.sampled_from(Move)


@given(st.lists(moves, max_size=30))
def test_no_sequence_of_moves_leaves_a_terminal_state(sequence: list[Move]) -> None:
    delivery = a_delivery(state=DeliveryState.ACCEPTED)
    for move in sequence:
        before = delivery
        try:
            delivery = moved(delivery, move, at(1))
        except IllegalMove:
            assert move not in MOVES[before.state]
        else:
            assert not before.is_terminal
            assert delivery.state is MOVES[before.state][move]


@given(st.sampled_from(sorted(TERMINAL)), moves)
def test_a_terminal_state_has_no_moves(state: DeliveryState, move: Move) -> None:
    with pytest.raises(IllegalMove):
        moved(a_delivery(state=state), move, at(1))


def test_the_terminal_states_are_those_of_the_ledger() -> None:
    assert {
        "handled", "evicted", "expired", "refused", "undeliverable", "superseded", "withdrawn",
    } == TERMINAL  # fmt: skip
    assert not WAITING & TERMINAL


def test_every_state_is_in_the_table_and_can_be_reached() -> None:
    assert set(MOVES) == set(DeliveryState)
    reached = {DeliveryState.ACCEPTED}
    while more := {target for state in reached for target in MOVES[state].values()} - reached:
        reached |= more
    assert reached == set(DeliveryState)


def test_every_move_is_used() -> None:
    assert {move for line in MOVES.values() for move in line} == set(Move)


def test_every_state_has_a_path_to_a_terminal_state() -> None:
    ending = set(TERMINAL)
    while more := {state for state, line in MOVES.items() if ending & set(line.values())} - ending:
        ending |= more
    assert ending == set(DeliveryState)


@given(states, moves, st.none() | st.text())
def test_a_move_writes_down_when_and_why_and_ends_the_offer(
    state: DeliveryState, move: Move, reason: str | None
) -> None:
    delivery = a_delivery(state=state)._replace(offer=an_offer_id(), lease_until=at(60), seq=7)
    try:
        after = moved(delivery, move, at(5), reason)
    except IllegalMove:
        return
    assert (after.updated_at, after.reason) == (at(5), reason)
    assert (after.id, after.inbox, after.seq) == (delivery.id, delivery.inbox, 7)
    if after.state is not DeliveryState.OFFERED:
        assert (after.offer, after.lease_until) == (None, None)


seconds = st.none() | st.integers(0, 20)


@given(states, seconds, seconds, st.integers(0, 20))
def test_a_reader_sees_a_passed_lease_as_queued_and_overdue_mail_as_expired(
    state: DeliveryState, lease: int | None, expiry: int | None, now: int
) -> None:
    delivery = a_delivery(
        state=state,
        lease_until=None if lease is None else at(lease),
        expires_at=None if expiry is None else at(expiry),
    )
    lease_is_over = state is DeliveryState.OFFERED and lease is not None and lease <= now
    is_queued = state is DeliveryState.QUEUED or lease_is_over
    expected = DeliveryState.QUEUED if is_queued else state
    if is_queued and expiry is not None and expiry <= now:
        expected = DeliveryState.EXPIRED
    assert state_at(delivery, at(now)) is expected
