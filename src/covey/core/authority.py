"""Authorization: the rules for claiming an identity, acting on messages and reading a space. They have no other home.

A program that has opened a store may read all of it. An agent's token is for surfaces that serve other programs: with
it, a program reads what its agent sent or received, acts in that agent's name alone, and never on the whole space. The
operator's token may do everything.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from covey.core.directory.card import Card
from covey.core.errors import BeyondToken, IdentityRefused, NotYours, OperatorOnly
from covey.core.identity import Grade, Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import OPERATOR, AgentName, DeliveryId, Label, TicketId, is_reserved
from covey.core.work.task import Task

KEPT_OUT: Final = frozenset({DeliveryState.REFUSED, DeliveryState.UNDELIVERABLE, DeliveryState.WITHDRAWN})
"""States of a copy that never reached the inbox, or was withdrawn before it was shown."""


def claim(name: AgentName) -> Identity:
    """Return an unverified identity. The operator, the space and other reserved names can't be claimed."""
    if name == OPERATOR:
        raise IdentityRefused(f"{name} can't be claimed: only a token makes an operator")
    check_free(name)
    return Identity(name, None, Grade.CLAIMED)


def check_free(name: AgentName) -> None:
    """Raise IdentityRefused for names that no agent can have. If an agent of an older space has such a name, its mail
    stays readable, but no program can act as that agent."""
    if is_reserved(name):
        raise IdentityRefused(f"the name {name} is reserved, because readers would take it for the space; use another")


def check_label(label: Label) -> None:
    """Raise IdentityRefused for labels that no session can have."""
    if is_reserved(label):
        raise IdentityRefused(
            f"the label {label} is reserved, because readers would take it for the space; use another"
        )


def check_recipient(actor: Identity, action: str, message: Message, recipient: AgentName) -> None:
    """Raise NotYours unless the actor is the recipient or the operator, who alone may answer, archive and dismiss."""
    if actor.agent != recipient and not actor.is_operator:
        raise NotYours(action, message.id, actor.agent, recipient)


def check_sender(actor: Identity, action: str, message: Message) -> None:
    """Raise NotYours unless the actor is the sender or the operator, who alone may withdraw and waive."""
    if actor.agent != message.sender.agent and not actor.is_operator:
        raise NotYours(action, message.id, actor.agent, message.sender.agent)


def check_doer(actor: Identity, task: Task) -> None:
    """Raise NotYours unless the actor is the agent of the task or the operator, who alone may report on it."""
    if actor.agent != task.agent and not actor.is_operator:
        raise NotYours("change the task of", task.id, actor.agent, task.agent)


# ---------------------------------------------------------------------------------- actions with an agent's token


def check_operator(actor: Identity, action: str) -> None:
    """Raise OperatorOnly unless the actor is the operator: the person who decides for the whole space."""
    if not actor.is_operator:
        raise OperatorOnly(actor.agent, action)


def is_bound(actor: Identity) -> bool:
    """Tell whether the actor uses an agent's token, and so may act for that agent alone."""
    return actor.grade is Grade.TOKEN and not actor.is_operator


def check_whole(actor: Identity, action: str) -> None:
    """Raise BeyondToken if the actor would act on the whole space with an agent's token."""
    if is_bound(actor):
        raise BeyondToken(actor.agent, action)


def check_as(actor: Identity, agent: AgentName, action: str) -> None:
    """Raise BeyondToken if the actor would act for another agent than its token's."""
    if is_bound(actor) and actor.agent != agent:
        raise BeyondToken(actor.agent, f"{action} {agent}")


def check_card_change(actor: Identity, before: Card, after: Card) -> None:
    """Raise BeyondToken if an agent's token would change other fields of a card than description, capabilities and
    allow_from. The other fields are the owner's limits on the agent: its recipients, its load, its command."""
    own = {"description": after.description, "capabilities": after.capabilities, "allow_from": after.allow_from}
    if is_bound(actor) and before._replace(**own) != after:
        raise BeyondToken(actor.agent, "change more of its card than its description, capabilities and allow_from")


def check_force(actor: Identity, owed: Sequence[Ticket]) -> None:
    """Raise BeyondToken if an agent's token would close a debt that is not owed to that agent."""
    for ticket in owed:
        if is_bound(actor) and ticket.asker != actor.agent:
            raise BeyondToken(actor.agent, f"force a gate while {ticket.asker} is owed an answer")


def check_sweep(actor: Identity, unsettled: Sequence[DeliveryRecord]) -> None:
    """Raise BeyondToken if an agent's token would sweep mail that waits for another agent."""
    for delivery in unsettled:
        if is_bound(actor) and delivery.agent != actor.agent:
            raise BeyondToken(actor.agent, f"sweep a scope in which mail waits for {delivery.agent or 'a session'}")


# ---------------------------------------------------------------------------------- reading with an agent's token


def may_read(agent: AgentName, message: Message, copies: Sequence[DeliveryRecord]) -> bool:
    """Tell whether a message is the agent's own mail: the agent sent it, or had it in an inbox."""
    return message.sender.agent == agent or any(copy.agent == agent and _arrived(copy) for copy in copies)


def sees_copy(agent: AgentName, copy: DeliveryRecord) -> bool:
    """Tell whether an agent may see the state of a copy: a sender sees all copies, a recipient its own."""
    return copy.sender == agent or (copy.agent == agent and _arrived(copy))


def _arrived(copy: DeliveryRecord) -> bool:
    return copy.state not in KEPT_OUT


def is_party(agent: AgentName, ticket: Ticket) -> bool:
    """Tell whether the agent owes the answer, or is owed it."""
    return agent in (ticket.asker, ticket.debtor)


def is_involved(agent: AgentName, task: Task) -> bool:
    """Tell whether an agent handed the task over, or is the agent that the task is for. A task that was refused at once
    never reached the latter."""
    return agent == task.delegator or (agent == task.agent and not task.is_refused)


def seen_by(actor: Identity, owed: Sequence[Ticket]) -> Sequence[Ticket]:
    """Return the debts of a scope as a gate shows them to the actor. An agent's token sees every debt with its two
    parties, but the subject and the answer only where its agent is one of them."""
    if not is_bound(actor):
        return owed
    return [t if is_party(actor.agent, t) else t._replace(subject=None, answer=None) for t in owed]


def part_of(event: Event, deliveries: Collection[DeliveryId], tickets: Collection[TicketId]) -> Event:
    """Return an event with only those of its deliveries and tickets that the reader may see."""
    details = dict(event.details)
    for name, visible in (("deliveries", deliveries), ("tickets", tickets)):
        listed = details.get(name)
        if isinstance(listed, Sequence) and not isinstance(listed, str):
            details[name] = [item for item in listed if _id(item) in visible]
    return event._replace(details=details)


def _id(item: Json) -> Json:
    return item.get("id") if isinstance(item, Mapping) else item
