"""Edge cases of debts: mail to a session that has not joined yet, refused questions back, and asks that end in
trouble."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.directory.card import Capacity, Card
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import OutcomeKind, ReceiptRecord
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.names import AgentName, MessageId, session_inbox, ticket_id
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.testing.fakes import HandClock
from covey.testing.records import a_session_id
from tests.properties.world import World, finish

ANN, BOB = AgentName("ann"), AgentName("bob")
PLAINLY = SendPolicy()
AHEAD = SendPolicy(may_await_session=True)
LATER = a_session_id(0xABC)


class Space:
    """A space in memory, with the few operations of these tests."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.world = World(MemoryStore(), self.clock)
        self.services = self.world.processes[0].services

    def join(self, name: AgentName, **wishes: object) -> Joined:
        return finish(self.services.directory.join(JoinRequest(name)._replace(**wishes)))

    def send(
        self, who: Identity, kind: Kind, to: Sequence[str], policy: SendPolicy = PLAINLY, **more: object
    ) -> ReceiptRecord:
        draft = Draft(
            kind, tuple(parse_address(one) for one in to), (TextPart("text"),), expects_reply=kind is Kind.REQUEST
        )
        return finish(self.services.mail.send(draft._replace(**more), who, policy))

    def waiting(self, member: Joined) -> list[MessageId]:
        return [i.message.id for i in finish(self.services.inbox.peek_inbox(session_inbox(member.session.id)))]


@pytest.fixture
def space() -> Space:
    return Space()


def test_a_request_to_a_future_session_is_owed_once_the_session_joins(space: Space) -> None:
    ann = space.join(ANN).identity
    request = space.send(ann, Kind.REQUEST, [LATER], AHEAD).message_id
    assert not finish(space.services.dialogue.owed_to(ANN))
    bob = space.join(BOB, session_id=LATER)
    assert space.waiting(bob) == [request]
    assert [owed.id for owed in finish(space.services.dialogue.owed_by(BOB))] == [ticket_id(request, BOB)]
    space.send(bob.identity, Kind.RESPONSE, [], in_reply_to=request)
    assert finish(space.services.dialogue.ticket(ticket_id(request, BOB))).state is TicketState.ANSWERED


def test_mail_to_a_future_session_expires_if_the_session_joins_too_late(space: Space) -> None:
    ann = space.join(ANN).identity
    request = space.send(ann, Kind.REQUEST, [LATER], AHEAD).message_id
    space.clock.advance(timedelta(minutes=11).total_seconds())
    assert space.waiting(space.join(BOB, session_id=LATER)) == []
    (copy,) = finish(space.services.mail.receipt(request)).deliveries
    assert copy.state is DeliveryState.EXPIRED


def test_an_agent_does_not_adopt_a_message_that_it_already_has(space: Space) -> None:
    ann = space.join(ANN).identity
    finish(space.services.directory.register(BOB, Card(), ann))
    message = space.send(ann, Kind.NOTIFY, [BOB, LATER], AHEAD).message_id
    assert space.waiting(space.join(BOB, session_id=LATER)) == [message]


def test_a_refused_question_back_leaves_the_debt_with_the_debtor(space: Space) -> None:
    ann = space.join(ANN, card=Card(allow_from=())).identity
    bob = space.join(BOB).identity
    request = space.send(ann, Kind.REQUEST, [BOB]).message_id
    question = space.send(bob, Kind.REQUEST, [], in_reply_to=request)
    assert [copy.state for copy in question.deliveries] == [DeliveryState.REFUSED]
    assert finish(space.services.dialogue.ticket(ticket_id(request, BOB))).awaits is None


def test_a_withdrawn_request_that_another_inbox_refused_is_no_longer_owed(space: Space) -> None:
    ann = space.join(ANN).identity
    space.join(BOB, capacity=Capacity(1))
    space.send(ann, Kind.NOTIFY, [BOB])
    space.join(BOB)
    request = space.send(ann, Kind.REQUEST, [BOB])
    assert {copy.state for copy in request.deliveries} == {DeliveryState.REFUSED, DeliveryState.QUEUED}
    finish(space.services.mail.withdraw(request.message_id, ann))
    ticket = finish(space.services.dialogue.ticket(ticket_id(request.message_id, BOB)))
    assert (ticket.state, ticket.close_reason) == (TicketState.CLOSED, TicketMove.WITHDRAW)


def test_an_ask_that_ends_in_trouble_consumes_its_notice_and_leaves_other_updates(space: Space) -> None:
    ann = space.join(ANN)
    bob = space.join(BOB)
    expires_at = space.clock.now() + timedelta(seconds=5)
    request = space.send(ann.identity, Kind.REQUEST, [BOB], expires_at=expires_at).message_id
    update = space.send(bob.identity, Kind.UPDATE, [], in_reply_to=request).message_id
    space.clock.advance(6)
    finish(space.services.upkeep.tend())
    assert len(space.waiting(ann)) == 2
    outcome = finish(space.services.asks.resume(ticket_id(request, BOB), ann.identity, 0))
    assert outcome.kind is OutcomeKind.EXPIRED
    assert space.waiting(ann) == [update]
