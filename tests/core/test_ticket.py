"""The state table of tickets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import IllegalMove
from covey.core.ledger.ticket import TICKET_MOVES, TicketMove, TicketState, ticket_moved
from covey.testing import a_ticket, at

moves = st.sampled_from(TicketMove)


@given(st.lists(moves, max_size=20))
def test_no_sequence_of_moves_opens_a_closed_ticket(sequence: list[TicketMove]) -> None:
    ticket = a_ticket()
    for move in sequence:
        before = ticket
        try:
            ticket = ticket_moved(ticket, move, at(1))
        except IllegalMove:
            assert move not in TICKET_MOVES[before.state]
        else:
            assert before.state is not TicketState.CLOSED
            assert ticket.state is TICKET_MOVES[before.state][move]


@given(moves)
def test_a_closed_ticket_has_no_moves(move: TicketMove) -> None:
    with pytest.raises(IllegalMove):
        ticket_moved(a_ticket(state=TicketState.CLOSED), move, at(1))


def test_every_state_can_be_reached_and_every_move_is_used() -> None:
    reached = {TicketState.OPEN}
    while more := {target for state in reached for target in TICKET_MOVES[state].values()} - reached:
        reached |= more
    assert reached == set(TICKET_MOVES) == set(TicketState)
    assert {move for line in TICKET_MOVES.values() for move in line} == set(TicketMove)


def test_only_the_answer_move_makes_a_ticket_answered() -> None:
    answering = {move for line in TICKET_MOVES.values() for move, to in line.items() if to is TicketState.ANSWERED}
    assert answering == {TicketMove.ANSWER}


@given(st.sampled_from(TicketState), moves)
def test_closing_writes_down_when_and_why_and_every_move_ends_the_waiting(state: TicketState, move: TicketMove) -> None:
    try:
        after = ticket_moved(a_ticket(state=state, awaits=a_ticket(2).id), move, at(5))
    except IllegalMove:
        return
    assert after.awaits is None
    if after.state is TicketState.CLOSED:
        assert (after.closed_at, after.close_reason) == (at(5), move)
    else:
        assert (after.closed_at, after.close_reason) == (None, None)
