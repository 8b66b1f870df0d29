"""The gate: it counts every ticket of the scope that is not closed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import GateClosed
from covey.core.ledger.outcome import verdict
from covey.core.ledger.ticket import Ticket, TicketState, TicketTrouble
from covey.core.names import Scope, Subject
from covey.testing import a_ticket


def a_troubled_ticket(n: int, state: TicketState, scope: str | None, trouble: TicketTrouble | None) -> Ticket:
    return a_ticket(n, state=state, scope=scope)._replace(trouble=trouble)


tickets = st.builds(
    a_troubled_ticket,
    st.integers(1, 1000),
    st.sampled_from(TicketState),
    st.sampled_from(["s", "t", None]),
    st.none() | st.sampled_from(TicketTrouble),
)


@given(st.lists(tickets, max_size=10))
def test_the_gate_passes_exactly_when_every_ticket_of_the_scope_is_closed(found: list[Ticket]) -> None:
    owed = tuple(t for t in found if t.scope == "s" and t.state in (TicketState.OPEN, TicketState.ANSWERED))
    judged = verdict(Scope("s"), found)
    assert judged.owed == owed
    assert judged.passed == (not owed)
    assert judged.answered == tuple(t for t in owed if t.state is TicketState.ANSWERED)
    if owed:
        with pytest.raises(GateClosed) as caught:
            judged.check()
        assert caught.value.details["observed_pending_replies"] == len(owed)
        assert caught.value.details["missing"] == "pending-replies-cleared"
    else:
        judged.check()


@given(st.lists(tickets, max_size=10))
def test_a_forced_gate_passes_and_still_lists_the_owed_tickets(found: list[Ticket]) -> None:
    judged = verdict(Scope("s"), found, forced=True)
    assert judged.passed
    assert judged.owed == verdict(Scope("s"), found).owed
    judged.check()


def test_each_subject_is_named_once_and_a_ticket_without_one_by_its_message_id() -> None:
    owed = [
        a_ticket(1, scope="s")._replace(subject=Subject("topic")),
        a_ticket(2, scope="s"),
        a_ticket(3, scope="s")._replace(subject=Subject("topic")),
    ]
    assert verdict(Scope("s"), owed).subjects == ("topic", a_ticket(2).message_id)
