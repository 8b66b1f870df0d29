"""Hops and traces: the path of a message is bounded and never circular."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.directory.card import Card
from covey.core.directory.routing import Recipient, RefusalCode, refusal
from covey.core.errors import HopsExhausted
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.draft import Draft, closes_circle, compose
from covey.core.ledger.message import Callback, Kind, Message, TaskRef, TextPart
from covey.core.limits import INITIAL_HOPS
from covey.core.names import AgentName
from covey.testing import CountingIds, at

A, B, C, D, E = (AgentName(name) for name in "ABCDE")
IDS = CountingIds()


def send(sender: AgentName, to: AgentName, *, relaying: Message | None = None) -> Message:
    """Compose a message from `sender` to `to`."""
    draft = Draft(Kind.REQUEST, (Address(AddressKind.AGENT, to),), (TextPart("do it"),))
    draft = draft._replace(relaying=relaying.id if relaying else None)
    return compose(draft, Identity(sender), IDS.message_id(at(0)), at(0), relayed=relaying)


def answer(sender: AgentName, message: Message, kind: Kind = Kind.RESPONSE) -> Message:
    """Compose the answer of `sender`."""
    draft = Draft(kind, (), (TextPart("done"),), in_reply_to=message.id)
    return compose(draft, Identity(sender), IDS.message_id(at(0)), at(0), answered=message)


def is_refused(message: Message, recipient: AgentName) -> bool:
    """Return whether the route is refused as a circle."""
    found = refusal(message, Recipient(recipient, Card(), ()), Card(), is_due=False)
    return found is not None and found.code is RefusalCode.CIRCULAR_ROUTE


@pytest.mark.requirement("mailbox.ttl")
def test_a_message_has_two_hops_left_at_b_one_at_c_none_at_d_and_then_can_only_be_answered() -> None:
    at_b = send(A, B)
    at_c = send(B, C, relaying=at_b)
    at_d = send(C, D, relaying=at_c)
    assert [message.hops_left for message in (at_b, at_c, at_d)] == [2, 1, 0]
    with pytest.raises(HopsExhausted):
        send(D, E, relaying=at_d)
    assert answer(D, at_d).hops_left == 0


@pytest.mark.requirement("mailbox.trace")
def test_the_three_documented_loops_are_refused() -> None:
    ping = send(A, B)
    assert is_refused(send(B, A, relaying=ping), A), "A and B ping each other: A is in the trace"

    at_c = send(B, C, relaying=send(A, B))
    assert is_refused(send(C, A, relaying=at_c), A), "A to B to C to A: A is in the trace"

    at_d = send(C, D, relaying=at_c)
    with pytest.raises(HopsExhausted):
        send(D, E, relaying=at_d)


@pytest.mark.requirement("mailbox.trace")
@pytest.mark.parametrize("kind", [Kind.RESPONSE, Kind.UPDATE, Kind.REQUEST])
def test_a_message_back_to_the_sender_is_not_refused_and_keeps_hops_and_trace(kind: Kind) -> None:
    at_c = send(B, C, relaying=send(A, B))
    back = answer(C, at_c, kind)
    assert (back.hops_left, back.trace) == (at_c.hops_left, at_c.trace) == (1, (A, B))
    assert not is_refused(back, B)


def test_a_response_to_a_third_agent_spends_a_hop() -> None:
    asked = send(A, B)
    draft = Draft(Kind.RESPONSE, (Address(AddressKind.AGENT, C),), (TextPart("for you"),), in_reply_to=asked.id)
    sent_on = compose(draft, Identity(B), IDS.message_id(at(0)), at(0), answered=asked)
    assert (sent_on.hops_left, sent_on.trace) == (1, (A, B))


agents = st.sampled_from((A, B, C, D, E))
steps = st.lists(st.tuples(st.sampled_from(("relay", "answer")), agents), max_size=12)


@given(agents, agents, steps)
def test_hops_never_grow_and_a_trace_never_repeats(
    first: AgentName, second: AgentName, steps: list[tuple[str, AgentName]]
) -> None:
    """Each agent relays or answers the message that reached it, at random."""
    message, holder, relays = send(first, second), second, 0
    for step, to in steps:
        if step == "answer":
            following, to = answer(holder, message), message.sender.agent
            assert (following.hops_left, following.trace) == (message.hops_left, message.trace)
        elif message.hops_left == 0:
            with pytest.raises(HopsExhausted):
                send(holder, to, relaying=message)
            continue
        else:
            following = send(holder, to, relaying=message)
            assert following.hops_left == message.hops_left - 1
            assert following.trace[-1] == holder, "only so can a circle be seen"
        assert len(set(following.trace)) == len(following.trace)
        assert following.root == message.root
        if not is_refused(following, to):
            relays += step == "relay"
            message, holder = following, to
    assert relays < INITIAL_HOPS


@given(agents, steps)
def test_no_relay_reaches_an_agent_that_relayed_before_it(first: AgentName, steps: list[tuple[str, AgentName]]) -> None:
    message, holder = send(first, B), B
    for _, to in steps:
        if message.hops_left and not is_refused(following := send(holder, to, relaying=message), to):
            assert to not in message.trace or to == holder
            message, holder = following, to


@given(st.lists(agents, min_size=1, max_size=4, unique=True), agents)
def test_any_agent_earlier_on_the_path_closes_a_circle(trace: list[AgentName], recipient: AgentName) -> None:
    message = send(trace[-1], recipient)._replace(trace=tuple(trace))
    assert closes_circle(message, recipient) == (recipient in trace[:-1])


def test_a_relay_keeps_the_task_the_callback_and_the_trace_parent() -> None:
    given = send(A, B)._replace(task=TaskRef("t"), callback=Callback("chat", "42"), traceparent="00-1-2-01")
    relayed = send(B, C, relaying=given)
    assert (relayed.task, relayed.callback, relayed.traceparent) == (given.task, given.callback, given.traceparent)
    assert (relayed.root, relayed.cause, relayed.thread) == (given.id, given.id, relayed.id)
