"""Receipts: their deliveries by outcome, and the end of a wait on a receipt."""

from hypothesis import given
from hypothesis import strategies as st

from covey.core.ledger.delivery import TERMINAL, DeliveryRecord, DeliveryState
from covey.core.ledger.offer import EvidenceGrade, at_least, better
from covey.core.ledger.outcome import ReceiptRecord, progress, reached
from covey.core.names import session_inbox
from covey.testing import a_delivery, a_message_id, a_session_id

States = DeliveryState

grades = st.sampled_from(EvidenceGrade)
states = st.sampled_from(DeliveryState)


def copies(*found: tuple[str, DeliveryState, EvidenceGrade | None]) -> ReceiptRecord:
    """Return a receipt with a delivery for each agent, state and grade."""
    deliveries = [
        a_delivery(1, copy, agent=agent, state=state, inbox=session_inbox(a_session_id(copy)))._replace(grade=grade)
        for copy, (agent, state, grade) in enumerate(found, 1)
    ]
    return ReceiptRecord(a_message_id(1), tuple(deliveries))


receipts = st.lists(st.tuples(st.sampled_from(["bob", "eve"]), states, st.none() | grades), min_size=1, max_size=5).map(
    lambda found: copies(*found)
)


def decided(receipt: ReceiptRecord, state: DeliveryState, grade: EvidenceGrade = EvidenceGrade.NAMED) -> bool | None:
    """Return the outcome of a wait: True if reached, False if failed, None while it is undecided."""
    outcome = progress(receipt, state, grade)
    return None if outcome is None else outcome.reached


@given(receipts)
def test_every_delivery_is_either_delivered_or_refused(receipt: ReceiptRecord) -> None:
    assert {*receipt.delivered, *receipt.refused} == {*receipt.deliveries}
    assert not {*receipt.delivered} & {*receipt.refused}


@given(receipts, states, grades)
def test_a_wait_is_over_when_all_copies_have_ended(
    receipt: ReceiptRecord, state: DeliveryState, grade: EvidenceGrade
) -> None:
    if all(delivery.is_terminal for delivery in receipt.deliveries):
        assert decided(receipt, state, grade) is not None


@given(receipts, states, grades)
def test_a_wait_succeeds_when_a_copy_of_every_recipient_reached_the_state(
    receipt: ReceiptRecord, state: DeliveryState, grade: EvidenceGrade
) -> None:
    got_there = {d.agent for d in receipt.deliveries if reached(d, state, grade)}
    everyone = {d.agent for d in receipt.deliveries}
    assert (decided(receipt, state, grade) is True) == (got_there == everyone)


@given(receipts, states, grades)
def test_a_wait_fails_when_no_copy_of_some_recipient_can_reach_the_state(
    receipt: ReceiptRecord, state: DeliveryState, grade: EvidenceGrade
) -> None:
    def is_lost(copies_of_one: list[DeliveryRecord]) -> bool:
        return all(d.is_terminal and not reached(d, state, grade) for d in copies_of_one)

    agents = {d.agent for d in receipt.deliveries}
    lost = [is_lost([d for d in receipt.deliveries if d.agent == agent]) for agent in agents]
    assert (decided(receipt, state, grade) is False) == any(lost)


@given(st.none() | grades, states)
def test_in_context_is_reached_by_evidence_alone(grade: EvidenceGrade | None, state: DeliveryState) -> None:
    delivery = copies(("bob", state, grade)).deliveries[0]
    assert reached(delivery, States.IN_CONTEXT, EvidenceGrade.NAMED) == (
        grade in (EvidenceGrade.NAMED, EvidenceGrade.WITNESSED)
    )


def test_a_state_that_was_passed_counts_as_reached() -> None:
    handled = copies(("bob", States.HANDLED, None))
    assert decided(handled, States.QUEUED) is True
    assert decided(handled, States.OFFERED) is True
    assert decided(handled, States.HANDLED) is True
    queued = copies(("bob", States.QUEUED, None))
    assert decided(queued, States.ACCEPTED) is True
    assert decided(queued, States.OFFERED) is None


def test_a_refused_recipient_fails_the_wait_unless_another_copy_of_that_recipient_reached_the_state() -> None:
    assert decided(copies(("bob", States.QUEUED, None), ("eve", States.REFUSED, None)), States.HANDLED) is False
    assert decided(copies(("bob", States.HANDLED, None), ("bob", States.EVICTED, None)), States.HANDLED) is True


@given(st.none() | grades, grades)
def test_more_evidence_never_lowers_the_grade(old: EvidenceGrade | None, new: EvidenceGrade) -> None:
    best = better(old, new)
    assert at_least(best, new)
    assert old is None or at_least(best, old)
    assert best in (old, new)


def test_the_grades_are_ordered_and_no_grade_is_never_enough() -> None:
    weakest_first = (EvidenceGrade.INFERRED, EvidenceGrade.NAMED, EvidenceGrade.WITNESSED)
    for strength, grade in enumerate(weakest_first):
        assert [at_least(grade, wanted) for wanted in weakest_first] == [n <= strength for n in range(3)]
        assert not at_least(None, grade)


def test_a_terminal_state_is_reached_only_by_itself() -> None:
    for state in TERMINAL:
        for wanted in TERMINAL:
            assert decided(copies(("bob", state, None)), wanted) is (state is wanted)
