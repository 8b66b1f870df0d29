"""Placement: the copies of a message, each with its place or the reason why it has none, and the debts it opens."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.address import Address, AddressKind
from covey.core.directory.capacity import PEERS_CAPACITY, Capacity
from covey.core.directory.card import Card
from covey.core.directory.routing import Recipient, Refusal, RefusalCode, places, refusal, supersedes
from covey.core.ids import InboxId, delivery_id, parked_inbox, session_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState, Move
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket, new_ticket
from covey.core.limits import UNREGISTERED_WAIT
from covey.core.names import AgentName
from covey.ports.clock import Ids
from covey.services.act import Act, shift
from covey.services.directory.policies import SUBJECTS_ARE_CATEGORIES, is_on
from covey.services.directory.presence import is_live
from covey.services.mail.answers import is_due
from covey.services.mail.recipients import SendPolicy, Unregistered
from covey.services.mail.room import make_room
from covey.services.mail.routes import Route
from covey.services.mail.steady import SteadyLiveness
from covey.services.mail.updates import NoticePorts
from covey.services.tasks.opening import task_refusal


class Incoming(NamedTuple):
    """A message that is to be accepted, with everything that its caller gave along."""

    act: Act
    message: Message
    policy: SendPolicy
    answered: Message | None
    """The message that it replies to."""
    evicted: list[Delivery]
    """Deliveries that had to make room for it. They are added while it is placed."""
    ids: Ids
    liveness: SteadyLiveness

    @property
    def desk(self) -> NoticePorts:
        return NoticePorts(self.ids, self.liveness)


class Facts(NamedTuple):
    """Facts about an incoming message that the rules decide by."""

    sender: Card
    is_person: bool
    """A person speaks: the operator, or somebody in a channel."""
    debts: Sequence[Ticket]
    """The debts of the sender that it may settle or postpone."""
    recipients: Sequence[Recipient | Unregistered]
    agents: Sequence[Recipient]
    """Those of the recipients that are agents of the space."""
    is_return: bool
    """Its recipient waits for it."""


class Placement(NamedTuple):
    """The copies of a message and the debts that it opens, before they are filed."""

    deliveries: list[Delivery]
    tickets: Sequence[Ticket]
    channels: Sequence[AgentName] = ()
    """The recipients whose copies are posted to people."""
    unauthorized: Sequence[AgentName] = ()
    """The recipients whose allow rules refused it."""


async def place_along(incoming: Incoming, route: Route) -> Placement | None:
    """Place a message like the one before it; None if an inbox has no room left, and the rules must decide."""
    act, message = incoming.act, incoming.message
    agent, places = route
    queued = act.tx.inboxes.queued
    for inbox, capacity in places:
        if await queued(inbox) >= capacity.limit:
            return None
    number = await act.tx.agents.next_number(agent)
    lines = [_line(message, n, agent, inbox, act.now, None, number) for n, (inbox, _) in enumerate(places, 1)]
    owed = [new_ticket(message, agent, [line.state for line in lines], act.now)] if message.expects_reply else ()
    return Placement(lines, owed)


async def place_by_rules(incoming: Incoming, facts: Facts) -> Placement:
    """Place a message with each of its recipients, or say why it can't be. Other mail may have to make room."""
    act, message = incoming.act, incoming.message
    deliveries: list[Delivery] = []
    tickets: list[Ticket] = []
    channels: list[AgentName] = []
    unauthorized: list[AgentName] = []
    for recipient in facts.recipients:
        n = len(deliveries) + 1
        if isinstance(recipient, Unregistered):
            deliveries.append(await _early(incoming, recipient, n))
            continue
        due = await _is_due(incoming, facts, recipient)
        refused = await _refusal(incoming, facts, recipient, due)
        lines = (
            [_line(message, n, recipient.agent, parked_inbox(recipient.agent), act.now, refused)]
            if refused
            else await _copies(incoming, recipient, due, n)
        )
        deliveries.extend(lines)
        if recipient.card.channel:
            channels.append(recipient.agent)
        if refused is not None and refused.code is RefusalCode.NOT_ALLOWED:
            unauthorized.append(recipient.agent)
        if message.expects_reply:
            tickets.append(new_ticket(message, recipient.agent, [line.state for line in lines], act.now))
    return Placement(deliveries, tickets, channels, unauthorized)


def route_of(facts: Facts, placement: Placement) -> Route | None:
    """Return the route of a placed message, if it arrived and only the rules had a say in that; else None."""
    recipient = facts.recipients[0] if len(facts.recipients) == 1 else None
    if facts.is_person or not isinstance(recipient, Recipient):  # the words of a person are judged each time
        return None
    if recipient.card.channel or recipient.card.wire_name is not None:
        return None
    if any(line.state is not DeliveryState.QUEUED for line in placement.deliveries):
        return None
    return Route(recipient.agent, [(line.inbox, _capacity(recipient, line.inbox)) for line in placement.deliveries])


async def _is_due(incoming: Incoming, facts: Facts, recipient: Recipient) -> bool:
    answered = incoming.answered
    return answered is not None and await is_due(incoming.act, incoming.message, recipient.agent, facts.debts, answered)


async def _refusal(incoming: Incoming, facts: Facts, recipient: Recipient, due: bool) -> Refusal | None:
    """Return why a recipient can't have the message; None if it can."""
    message, answered = incoming.message, incoming.answered
    is_reply = answered is not None and message.trace == answered.trace
    refused = refusal(message, recipient, facts.sender, due, is_reply=is_reply)
    if refused is None and message.kind is Kind.TASK:
        return await task_refusal(incoming.act, recipient)
    return refused


async def _copies(incoming: Incoming, recipient: Recipient, due: bool, n: int) -> list[Delivery]:
    """Return the copies for a recipient that may have the message, numbered from `n`."""
    act, message, policy, answered = incoming.act, incoming.message, incoming.policy, incoming.answered
    asker = answered.sender.session if answered is not None else None
    if answered is not None and asker is not None:
        recipient = await _back_to_child(incoming, recipient, answered)
    inboxes = places(message, recipient, policy.when_offline, asker)
    if isinstance(inboxes, Refusal):
        return [_line(message, n, recipient.agent, parked_inbox(recipient.agent), act.now, inboxes)]
    number = await act.tx.agents.next_number(recipient.agent)
    lines: list[Delivery] = []
    for offset, inbox in enumerate(inboxes):
        # What takes the place of an older state needs no room of its own. People are told each in its conversation.
        replaces = not recipient.card.channel and await _replaces(act, message, policy)
        has_room = due or (replaces and await _supersede(act, message, inbox))
        refused = None
        if not has_room:
            capacity = _capacity(recipient, inbox)
            if await act.tx.inboxes.queued(inbox) >= capacity.limit:
                refused = await make_room(act, inbox, capacity, incoming.desk, incoming.evicted)
        line = _line(message, n + offset, recipient.agent, inbox, act.now, refused, number)
        lines.append(line if recipient.card.wire_name is None else _briefly(line, act.now))
    return lines


async def _back_to_child(incoming: Incoming, recipient: Recipient, answered: Message) -> Recipient:
    """Return the recipient of a reply: the child that wrote what is answered, where its agent was addressed by name.
    The name alone means the agent's main sessions."""
    act, message = incoming.act, incoming.message
    back = Address(AddressKind.AGENT, answered.sender.agent)
    if recipient.agent != answered.sender.agent or back not in message.to or message.kind is Kind.TASK:
        return recipient
    asker = await act.tx.sessions.get(answered.sender.session) if answered.sender.session else None
    if asker is None or asker.key.is_main or not is_live(asker, incoming.liveness, act.now):
        return recipient
    return recipient._replace(sessions=(asker,))


async def _replaces(act: Act, message: Message, policy: SendPolicy) -> bool:
    """Tell whether a message takes the place of older ones like it."""
    if not supersedes(message):
        return False
    return policy.supersedes or not await is_on(act.tx, SUBJECTS_ARE_CATEGORIES)


async def _supersede(act: Act, message: Message, inbox: InboxId) -> bool:
    """Let the message replace the older states of its subject; tell whether there were any."""
    if message.scope is None or message.subject is None:
        return False
    older = await act.tx.inboxes.alike(inbox, message.sender.agent, message.scope, message.subject)
    for old in older:
        await shift(act, old, Move.SUPERSEDE, f"superseded by {message.id}")
    return bool(older)


def _capacity(recipient: Recipient, inbox: InboxId) -> Capacity:
    for session in recipient.sessions:
        if session.inbox == inbox:
            return session.capacity
    return recipient.card.capacity


def _line(
    message: Message,
    n: int,
    agent: AgentName | None,
    inbox: InboxId,
    now: datetime,
    refused: Refusal | None,
    number: int = 0,
) -> Delivery:
    """Return one delivery as it begins: queued, refused, or undeliverable."""
    state = DeliveryState.QUEUED
    if refused is not None:
        is_offline = refused.code is RefusalCode.NO_LIVE_SESSION
        state = DeliveryState.UNDELIVERABLE if is_offline else DeliveryState.REFUSED
    return Delivery(  # by position: every copy of every message comes by here
        delivery_id(message.id, n),
        message.id,
        inbox,
        agent,
        state,
        message.kind,
        message.sender.agent,
        message.expects_reply,
        now,
        0,
        number,
        message.scope,
        message.subject,
        message.expires_at,
        None,
        None,
        None,
        str(refused) if refused is not None else None,
    )


async def _early(incoming: Incoming, recipient: Unregistered, n: int) -> Delivery:
    """Return the delivery for a session id that nobody has registered: it waits for a while."""
    act, message = incoming.act, incoming.message
    inbox = session_inbox(recipient.session_id)
    await make_room(act, inbox, PEERS_CAPACITY, incoming.desk, incoming.evicted)
    return _briefly(_line(message, n, None, inbox, act.now, None), act.now)


def _briefly(line: Delivery, now: datetime) -> Delivery:
    """Return a delivery that waits only as long as mail for the peers' wire does."""
    until = now + UNREGISTERED_WAIT
    return line._replace(expires_at=min(until, line.expires_at) if line.expires_at else until)
