"""The traffic of a space: messages counted between agents, and a thread with its questions."""

from datetime import timedelta
from pathlib import Path

import pytest

from covey.core.directory.card import Card
from covey.core.errors import MessageUnknown
from covey.core.identity import THE_SPACE, Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.names import AgentName
from covey.services.mail.recipients import SendPolicy
from covey.services.mail.traffic import TrafficGraph
from tests.properties.world import finish
from tests.services.spaces import Space, in_memory, in_sqlite

pytestmark = pytest.mark.requirement("first.graph")

ANN, BOB, EVE = AgentName("ann"), AgentName("bob"), AgentName("eve")


@pytest.fixture(params=["memory", "sqlite"])
def space(request: pytest.FixtureRequest, tmp_path: Path) -> Space:
    return in_memory() if request.param == "memory" else in_sqlite(tmp_path / "covey.db")


def counts(graph: TrafficGraph) -> dict[tuple[str, str], tuple[int, int, int]]:
    return {(e.sender, e.recipient): (e.messages, e.open, e.answered) for e in graph.edges}


def test_messages_and_questions_are_counted_by_sender_and_recipient(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    space.send(ann, "bob", "Hello.")
    first = space.send(ann, "bob", "Why?", kind=Kind.REQUEST)
    space.send(ann, "bob", "How?", kind=Kind.REQUEST)
    space.send(bob, "ann", "Because.", kind=Kind.RESPONSE, answers=first)
    graph = finish(space.services.traffic.graph())
    assert counts(graph) == {("ann", "bob"): (3, 1, 1), ("bob", "ann"): (1, 0, 0)}
    assert (graph.messages, graph.is_complete) == (4, True)


def test_a_message_to_two_sessions_of_an_agent_counts_once(space: Space) -> None:
    ann = space.join(ANN)
    space.join(BOB)
    space.join(BOB)
    space.send(ann, "bob", "Hello.")
    assert counts(finish(space.services.traffic.graph())) == {("ann", "bob"): (1, 0, 0)}


def test_refused_copies_and_notices_of_the_space_do_not_count(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    finish(space.services.directory.register(BOB, Card(allow_from=("eve",)), bob))
    space.send(ann, "bob", "Let me in.")
    space.send(THE_SPACE, "ann", "A notice.")
    assert counts(finish(space.services.traffic.graph())) == {}


def test_only_messages_after_a_time_are_counted(space: Space) -> None:
    ann = space.join(ANN)
    space.send(ann, "bob", "Old.")
    since = space.clock.now()
    space.clock.advance(60)
    space.send(ann, "bob", "New.")
    graph = finish(space.services.traffic.graph(since))
    assert counts(graph) == {("ann", "bob"): (1, 0, 0)}
    assert graph.edges[0].last_at == since + timedelta(seconds=60)


def test_the_newest_messages_are_counted_and_the_rest_is_reported(space: Space) -> None:
    ann = space.join(ANN)
    for to in ("bob", "bob", "eve"):
        space.send(ann, to, "Hello.")
    graph = finish(space.services.traffic.graph(most=1))
    assert (counts(graph), graph.messages, graph.is_complete) == ({("ann", "eve"): (1, 0, 0)}, 1, False)
    assert finish(space.services.traffic.graph(most=3)).is_complete


def test_a_thread_has_the_questions_of_its_messages(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    first = space.send(ann, "bob", "Why?", kind=Kind.REQUEST)
    space.send(bob, "ann", "Which one?", kind=Kind.REQUEST, answers=first)
    thread = finish(space.services.traffic.thread(first))
    assert [entry.message.text for entry in thread] == ["Why?", "Which one?"]
    assert [(t.debtor, t.state) for entry in thread for t in entry.tickets] == [
        (BOB, TicketState.OPEN),
        (ANN, TicketState.OPEN),
    ]


def test_the_holder_of_a_token_sees_only_its_own_traffic(space: Space) -> None:
    ann, bob = space.join(ANN), space.join(BOB)
    secret = space.send(ann, "bob", "Between us.")
    both = Draft(Kind.NOTIFY, (parse_address("bob"), parse_address("eve")), (TextPart("To both."),))
    space.send(bob, "eve", "Hello.")
    finish(space.services.mail.send(both, ann, SendPolicy()))
    narrow = space.services.narrowed_to(Identity(EVE, None, Grade.TOKEN))
    assert counts(finish(narrow.traffic.graph())) == {("ann", "eve"): (1, 0, 0), ("bob", "eve"): (1, 0, 0)}
    with pytest.raises(MessageUnknown):
        finish(narrow.traffic.thread(secret))
