"""The audit: it finds exactly the records that were changed without the journal."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.ticket import TicketMove, TicketState, TicketTrouble
from covey.core.ledger.wire import encode
from covey.core.names import (
    AgentName,
    DeliveryId,
    InboxId,
    MessageId,
    OfferId,
    SessionId,
    delivery_id,
    parked_inbox,
    ticket_id,
)
from covey.ports.store import Transaction
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.testing.fakes import HandClock
from covey.testing.records import a_delivery, a_message, a_session, a_ticket, an_agent
from tests.properties.world import World, finish

ANN, BOB = AgentName("ann"), AgentName("bob")


class Story(NamedTuple):
    """A space with events of every kind."""

    world: World
    shown: MessageId
    """A notify that is on offer to bob."""
    offer: OfferId
    owed: MessageId
    """A request that bob has not answered."""
    answered: MessageId
    """A request that bob has answered."""
    answer: MessageId
    ended: SessionId
    """A session of bob's that has ended."""

    def audit(self) -> list[str]:
        """Return the complaints of the audit."""
        return [fault.what for fault in finish(self.world.processes[0].services.audit.check())]


@pytest.fixture
def story() -> Story:
    world = World(MemoryStore(), HandClock())
    services = world.processes[0].services
    ann = finish(services.directory.join(JoinRequest(ANN))).identity
    ended = finish(services.directory.join(JoinRequest(BOB))).identity
    bob = finish(services.directory.join(JoinRequest(BOB))).identity

    def send(kind: Kind, answers: MessageId | None = None) -> MessageId:
        to = () if answers else (parse_address(BOB),)
        draft = Draft(kind, to, (TextPart("text"),), in_reply_to=answers, expects_reply=kind is Kind.REQUEST)
        return finish(services.mail.send(draft, bob if answers else ann, SendPolicy())).message_id

    answered = send(Kind.REQUEST)
    showing = finish(services.offers.offer(bob, "1"))
    assert showing is not None
    finish(services.offers.confirm(showing.offer.id, bob, EvidenceGrade.NAMED, "a test"))
    answer = send(Kind.RESPONSE, answered)
    finish(services.dialogue.archive(answered, bob))
    finish(services.directory.leave(ended))
    shown = send(Kind.NOTIFY)
    showing = finish(services.offers.offer(bob, "2"))
    assert showing is not None
    assert ended.session is not None
    owed = send(Kind.REQUEST)
    return Story(world, shown, showing.offer.id, owed, answered, answer, ended.session)


def test_a_space_that_followed_the_rules_has_no_faults(story: Story) -> None:
    assert story.audit() == []


Damage = Callable[[Transaction, Story], Awaitable[object]]


async def _state(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.put(copy._replace(state=DeliveryState.HANDLED))


async def _place(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.place(copy._replace(inbox=parked_inbox(ANN)))


async def _place_in_ended(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.place(copy._replace(inbox=InboxId(f"session:{story.ended}")))


async def _evidence(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.put(copy._replace(grade=EvidenceGrade.WITNESSED))


async def _in_context_without_evidence(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.put(copy._replace(state=DeliveryState.IN_CONTEXT))


async def _no_lease(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.shown, 1))
    await tx.deliveries.put(copy._replace(lease_until=None))


async def _offer_ended(tx: Transaction, story: Story) -> None:
    offer = await tx.offers.get(story.offer)
    assert offer is not None
    await tx.offers.put(offer._replace(ended_at=offer.offered_at))


async def _offer_forgot(tx: Transaction, story: Story) -> None:
    offer = await tx.offers.get(story.offer)
    assert offer is not None
    await tx.offers.put(offer._replace(deliveries=()))


async def _number_reused(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.put(copy._replace(number=1))


async def _another_copy(tx: Transaction, story: Story) -> None:
    copy = await _copy(tx, delivery_id(story.owed, 1))
    await tx.deliveries.place(copy._replace(id=delivery_id(story.owed, 2)))


async def _ticket_closed(tx: Transaction, story: Story) -> None:
    ticket = await tx.tickets.get(ticket_id(story.owed, BOB))
    assert ticket is not None
    await tx.tickets.put(ticket._replace(state=TicketState.CLOSED, close_reason=TicketMove.WAIVE))


async def _ticket_troubled(tx: Transaction, story: Story) -> None:
    ticket = await tx.tickets.get(ticket_id(story.owed, BOB))
    assert ticket is not None
    await tx.tickets.put(ticket._replace(trouble=TicketTrouble.EVICTED))


async def _answer_elsewhere(tx: Transaction, story: Story) -> None:
    ticket = await tx.tickets.get(ticket_id(story.answered, BOB))
    assert ticket is not None
    await tx.tickets.put(ticket._replace(answer=story.shown))


async def _ticket_for_nothing(tx: Transaction, story: Story) -> None:
    await tx.tickets.put(a_ticket()._replace(id=ticket_id(story.shown, BOB), message_id=story.shown, debtor=BOB))


async def _awaits_nothing(tx: Transaction, story: Story) -> None:
    ticket = await tx.tickets.get(ticket_id(story.owed, BOB))
    assert ticket is not None
    await tx.tickets.put(ticket._replace(awaits=ticket_id(story.shown, ANN)))


async def _session_revived(tx: Transaction, story: Story) -> None:
    session = await tx.sessions.get(story.ended)
    assert session is not None
    await tx.sessions.put(session._replace(ended_at=None))


async def _session_unheard_of(tx: Transaction, _story: Story) -> None:
    await tx.sessions.put(a_session(99, agent="bob"))


async def _agent_unheard_of(tx: Transaction, _story: Story) -> None:
    await tx.agents.put(an_agent("mallory"))


async def _message_unheard_of(tx: Transaction, _story: Story) -> None:
    message = a_message(77)
    await tx.messages.add(message, encode(message))


async def _mail_unheard_of(tx: Transaction, _story: Story) -> None:
    await tx.deliveries.place(a_delivery(77, inbox=parked_inbox(BOB)))


async def _copy(tx: Transaction, copy: DeliveryId) -> DeliveryRecord:
    found = await tx.deliveries.get(copy)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (_state, "delivery"),
        (_place, "delivery"),
        (_place_in_ended, "mail left in an ended session"),
        (_evidence, "delivery"),
        (_in_context_without_evidence, "evidence"),
        (_no_lease, "lease"),
        (_offer_ended, "offer"),
        (_offer_forgot, "offer"),
        (_number_reused, "number 1 of bob"),
        (_another_copy, "deliveries"),
        (_ticket_closed, "ticket"),
        (_ticket_troubled, "ticket"),
        (_answer_elsewhere, "answer"),
        (_ticket_for_nothing, "tickets"),
        (_awaits_nothing, "question back"),
        (_session_revived, "session"),
        (_session_unheard_of, "current sessions"),
        (_agent_unheard_of, "agents"),
        (_message_unheard_of, "event"),
        (_mail_unheard_of, "inbox"),
    ],
)
def test_damage_is_found(story: Story, damage: Damage, complaint: str) -> None:
    finish(story.world.store.commit(lambda tx: damage(tx, story)))
    assert complaint in story.audit()


def test_the_audit_changes_nothing(story: Story) -> None:
    finish(story.world.store.commit(lambda tx: _state(tx, story)))
    assert story.audit() == story.audit()
