"""What a receipt says of its deliveries, and when a wait on it is decided."""

from hypothesis import given
from hypothesis import strategies as st

from covey.core.ids import session_inbox
from covey.core.ledger.delivery import TERMINAL, Delivery, DeliveryState
from covey.core.ledger.evidence import EvidenceGrade, at_least, better
from covey.core.ledger.receipt import Receipt, progress, reached
from covey.testing import a_delivery, a_message_id, a_session_id

States = DeliveryState

grades = st.sampled_from(EvidenceGrade)
states = st.sampled_from(DeliveryState)


def copies(*found: tuple[str, DeliveryState, EvidenceGrade | None]) -> Receipt:
    """Return a receipt with a delivery for each agent, state and grade."""
    deliveries = [
        a_delivery(1, copy, agent=agent, state=state, inbox=session_inbox(a_session_id(copy)))._replace(grade=grade)
        for copy, (agent, state, grade) in enumerate(found, 1)
    ]
    return Receipt(a_message_id(1), tuple(deliveries))


receipts = st.lists(st.tuples(st.sampled_from(["bob", "eve"]), states, st.none() | grades), min_size=1, max_size=5).map(
    lambda found: copies(*found)
)


def decided(receipt: Receipt, state: DeliveryState, grade: EvidenceGrade = EvidenceGrade.NAMED) -> bool | None:
    """Return what a wait came to: reached, failed, or None while it is undecided."""
    outcome = progress(receipt, state, grade)
    return None if outcome is None else outcome.reached


@given(receipts)
def test_every_delivery_is_either_delivered_or_refused(receipt: Receipt) -> None:
    assert {*receipt.delivered, *receipt.refused} == {*receipt.deliveries}
    assert not {*receipt.delivered} & {*receipt.refused}


@given(receipts, states, grades)
def test_a_wait_is_over_when_all_copies_have_ended(
    receipt: Receipt, state: DeliveryState, grade: EvidenceGrade
) -> None:
    if all(delivery.is_terminal for delivery in receipt.deliveries):
        assert decided(receipt, state, grade) is not None


@given(receipts, states, grades)
def test_reached_means_a_copy_of_every_recipient_got_there(
    receipt: Receipt, state: DeliveryState, grade: EvidenceGrade
) -> None:
    got_there = {d.agent for d in receipt.deliveries if reached(d, state, grade)}
    everyone = {d.agent for d in receipt.deliveries}
    assert (decided(receipt, state, grade) is True) == (got_there == everyone)


@given(receipts, states, grades)
def test_failed_means_some_recipient_has_nothing_left_that_could_get_there(
    receipt: Receipt, state: DeliveryState, grade: EvidenceGrade
) -> None:
    def is_lost(copies_of_one: list[Delivery]) -> bool:
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


def test_a_step_that_was_passed_was_reached() -> None:
    handled = copies(("bob", States.HANDLED, None))
    assert decided(handled, States.QUEUED) is True
    assert decided(handled, States.OFFERED) is True
    assert decided(handled, States.HANDLED) is True
    queued = copies(("bob", States.QUEUED, None))
    assert decided(queued, States.ACCEPTED) is True
    assert decided(queued, States.OFFERED) is None


def test_a_refused_copy_of_one_recipient_fails_the_wait_and_a_sibling_saves_it() -> None:
    assert decided(copies(("bob", States.QUEUED, None), ("eve", States.REFUSED, None)), States.HANDLED) is False
    assert decided(copies(("bob", States.HANDLED, None), ("bob", States.EVICTED, None)), States.HANDLED) is True


@given(st.none() | grades, grades)
def test_more_evidence_never_weakens(old: EvidenceGrade | None, new: EvidenceGrade) -> None:
    best = better(old, new)
    assert at_least(best, new)
    assert old is None or at_least(best, old)
    assert best in (old, new)


def test_the_grades_have_one_order_and_none_is_never_enough() -> None:
    weakest_first = (EvidenceGrade.INFERRED, EvidenceGrade.NAMED, EvidenceGrade.WITNESSED)
    for strength, grade in enumerate(weakest_first):
        assert [at_least(grade, wanted) for wanted in weakest_first] == [n <= strength for n in range(3)]
        assert not at_least(None, grade)


def test_every_end_is_reached_by_itself_alone() -> None:
    for state in TERMINAL:
        for wanted in TERMINAL:
            assert decided(copies(("bob", state, None)), wanted) is (state is wanted)
