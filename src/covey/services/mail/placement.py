"""Placement: the copies of a message, each with its place or the reason why it has none, and the debts it opens.

A full inbox evicts mail or refuses more. A sender usually sends again to the same recipient. As long as no agent,
session or setting changes, the rules have the same result for the next message, and its route is taken from a cache;
only the room in the inbox has to be checked."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.directory.card import EVICTION_ORDER, PEERS_CAPACITY, Capacity, Card
from covey.core.directory.routing import Recipient, Refusal, RefusalCode, places, refusal, supersedes
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, Move
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket, TicketTrouble, new_ticket
from covey.core.limits import UNREGISTERED_WAIT
from covey.core.names import AgentName, InboxId, SessionId, delivery_id, parked_inbox, session_inbox, ticket_id
from covey.ports.clock import Clock, Ids
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.directory.presence import SteadyLiveness, is_live
from covey.services.directory.settings import SUBJECTS_ARE_CATEGORIES, is_on
from covey.services.mail.answers import is_due
from covey.services.mail.filing import NoticePorts
from covey.services.mail.notices import report_trouble
from covey.services.mail.recipients import SendPolicy, Unregistered
from covey.services.records import own_session
from covey.services.tasks.open_tasks import task_refusal
from covey.services.warning import warn

RouteKey = tuple[Identity, Address, Kind, Sequence[AgentName], SendPolicy]
"""The properties of a message on which the rules depend."""


def route_key(message: Message, policy: SendPolicy, answered: Message | None) -> RouteKey | None:
    """Return the facts that the rules depend on, if the message begins a tree, has one address, supersedes no other,
    and is neither claimed nor waited for. Return None for any other message, because the rules then depend on more
    facts."""
    to, kind = message.to, message.kind
    if (
        answered is not None
        or message.root != message.id
        or len(to) != 1
        or kind is Kind.TASK
        or policy.waits
        or policy.takes
        or supersedes(message)
    ):
        return None
    return message.sender, to[0], kind, message.trace, policy


class Route(NamedTuple):
    agent: AgentName
    places: Sequence[tuple[InboxId, Capacity]]


class RouteCache:
    """The routes of one directory version (`Transaction.directory_version`)."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._known: dict[RouteKey, Route] = {}

    def find(self, like: RouteKey, version: int) -> Route | None:
        """Return the route of the messages that are alike, if one of them was placed at this version."""
        if version != self._version:
            self._version = version
            self._known = {}
        return self._known.get(like)

    def keep(self, like: RouteKey, route: Route, version: int) -> None:
        """Cache a message's route, if the directory version is still the same."""
        if version == self._version:
            self._known[like] = route


class InboxLimits:
    """Limits of sessions' inboxes, set by the toolkits that their models use."""

    def __init__(self, store: Store, clock: Clock, notice_ports: NoticePorts) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._held: dict[SessionId, Capacity] = {}
        """The limits that this process has applied."""

    async def hold(self, actor: Identity, capacity: Capacity) -> None:
        """Limit the inbox of the actor's session. Mail over the limit is evicted at once. An actor without a session
        has no inbox of its own, and nothing happens."""
        if actor.session is None or self._held.get(actor.session) == capacity:
            return
        evicted: list[DeliveryRecord] = []

        async def operation(tx: Transaction) -> None:
            evicted.clear()
            session = await own_session(tx, actor)
            if session.capacity != capacity:
                await tx.sessions.put(session._replace(capacity=capacity))
            act = Act(tx, actor, self._clock.now())
            await make_room(act, session.inbox, capacity, self._notice_ports, evicted, incoming=0)

        await self._store.commit(operation)
        self._held[actor.session] = capacity
        warn_of(evicted)


def warn_of(evicted: list[DeliveryRecord]) -> None:
    """Log a warning for each evicted message."""
    for victim in evicted:
        warn("message %s was evicted from %s, which was full", victim.message_id, victim.inbox)


async def make_room(
    act: Act,
    inbox: InboxId,
    capacity: Capacity,
    notice_ports: NoticePorts,
    evicted: list[DeliveryRecord],
    *,
    incoming: int = 1,
) -> Refusal | None:
    """Make room in the inbox for incoming mail, or return a refusal that it is full. Evicted deliveries are added to
    `evicted`."""
    while await act.tx.inboxes.queued(inbox) + incoming > capacity.limit:
        victim = None
        for kinds in EVICTION_ORDER[capacity.overflow]:
            victim = victim or await act.tx.inboxes.oldest(inbox, kinds)
        if victim is None:
            return Refusal(RefusalCode.INBOX_FULL, f"the inbox holds its limit of {capacity.limit}")
        await _evict(act, victim, capacity, notice_ports)
        evicted.append(victim)
    return None


async def _evict(act: Act, victim: DeliveryRecord, capacity: Capacity, notice_ports: NoticePorts) -> None:
    await shift(act, victim, Move.EVICT, f"the inbox held its limit of {capacity.limit}")
    if victim.expects_reply and victim.agent is not None:
        copies = await act.tx.deliveries.of_message(victim.message_id)
        if all(copy.is_terminal for copy in copies if copy.agent == victim.agent):
            ticket = await act.tx.tickets.get(ticket_id(victim.message_id, victim.agent))
            if ticket is not None:
                await report_trouble(act, ticket, TicketTrouble.EVICTED, notice_ports.ids, notice_ports.liveness)


class Incoming(NamedTuple):
    """A message that is to be accepted, with all arguments of the caller."""

    act: Act
    message: Message
    policy: SendPolicy
    answered: Message | None
    """The message that this one replies to."""
    evicted: list[DeliveryRecord]
    """Deliveries that were evicted to make room for the message. They are added during its placement."""
    ids: Ids
    liveness: SteadyLiveness

    @property
    def notice_ports(self) -> NoticePorts:
        return NoticePorts(self.ids, self.liveness)


class MessageFacts(NamedTuple):
    """Facts about an incoming message that the rules depend on."""

    sender: Card
    is_person: bool
    """True if the sender is a person: the operator, or a person in a channel."""
    debts: Sequence[Ticket]
    """The debts of the sender that the message may settle or postpone."""
    recipients: Sequence[Recipient | Unregistered]
    agents: Sequence[Recipient]
    """The recipients that are agents of the space."""
    is_return: bool
    """True if a recipient expects the message."""


class Placement(NamedTuple):
    """The copies of a message and the debts that it opens, before they are filed."""

    deliveries: list[DeliveryRecord]
    tickets: Sequence[Ticket]
    channels: Sequence[AgentName] = ()
    """The recipients whose copies are posted to people."""
    unauthorized: Sequence[AgentName] = ()
    """The recipients whose allow rules refused the message."""


async def place_along(incoming: Incoming, route: Route) -> Placement | None:
    """Place a message along a cached route. Return None if an inbox is full, because the rules must decide then."""
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


async def place_by_rules(incoming: Incoming, facts: MessageFacts) -> Placement:
    """Place a message with each of its recipients, or record why it can't be placed. Other mail may be evicted."""
    act, message = incoming.act, incoming.message
    deliveries: list[DeliveryRecord] = []
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


def route_of(facts: MessageFacts, placement: Placement) -> Route | None:
    """Return the route of a placed message if all its copies are queued and only the rules decided that; otherwise
    None."""
    recipient = facts.recipients[0] if len(facts.recipients) == 1 else None
    if facts.is_person or not isinstance(recipient, Recipient):  # messages of a person are judged each time
        return None
    if recipient.card.channel or recipient.card.wire_name is not None:
        return None
    if any(line.state is not DeliveryState.QUEUED for line in placement.deliveries):
        return None
    return Route(recipient.agent, [(line.inbox, _capacity(recipient, line.inbox)) for line in placement.deliveries])


async def _is_due(incoming: Incoming, facts: MessageFacts, recipient: Recipient) -> bool:
    answered = incoming.answered
    return answered is not None and await is_due(incoming.act, incoming.message, recipient.agent, facts.debts, answered)


async def _refusal(incoming: Incoming, facts: MessageFacts, recipient: Recipient, due: bool) -> Refusal | None:
    """Return why a recipient can't have the message; None if it can."""
    message, answered = incoming.message, incoming.answered
    is_reply = answered is not None and message.trace == answered.trace
    refused = refusal(message, recipient, facts.sender, due, is_reply=is_reply)
    if refused is None and message.kind is Kind.TASK:
        return await task_refusal(incoming.act, recipient)
    return refused


async def _copies(incoming: Incoming, recipient: Recipient, due: bool, n: int) -> list[DeliveryRecord]:
    """Return the copies for a recipient that may have the message, numbered from `n`."""
    act, message, policy, answered = incoming.act, incoming.message, incoming.policy, incoming.answered
    asker = answered.sender.session if answered is not None else None
    if answered is not None and asker is not None:
        recipient = await _back_to_child(incoming, recipient, answered)
    inboxes = places(message, recipient, policy.when_offline, asker)
    if isinstance(inboxes, Refusal):
        return [_line(message, n, recipient.agent, parked_inbox(recipient.agent), act.now, inboxes)]
    number = await act.tx.agents.next_number(recipient.agent)
    lines: list[DeliveryRecord] = []
    for offset, inbox in enumerate(inboxes):
        # A message that supersedes another one needs no additional room. Mail for people supersedes nothing, because
        # each message is posted in its own conversation.
        replaces = not recipient.card.channel and await _replaces(act, message, policy)
        has_room = due or (replaces and await _supersede(act, message, inbox))
        refused = None
        if not has_room:
            capacity = _capacity(recipient, inbox)
            if await act.tx.inboxes.queued(inbox) >= capacity.limit:
                refused = await make_room(act, inbox, capacity, incoming.notice_ports, incoming.evicted)
        line = _line(message, n + offset, recipient.agent, inbox, act.now, refused, number)
        lines.append(line if recipient.card.wire_name is None else _briefly(line, act.now))
    return lines


async def _back_to_child(incoming: Incoming, recipient: Recipient, answered: Message) -> Recipient:
    """Return the recipient of a reply.

    If the reply is addressed to an agent by name, and a live child of that agent wrote the answered message, return
    that child: a name alone stands for the agent's main sessions.
    """
    act, message = incoming.act, incoming.message
    back = Address(AddressKind.AGENT, answered.sender.agent)
    if recipient.agent != answered.sender.agent or back not in message.to or message.kind is Kind.TASK:
        return recipient
    asker = await act.tx.sessions.get(answered.sender.session) if answered.sender.session else None
    if asker is None or asker.key.is_main or not is_live(asker, incoming.liveness, act.now):
        return recipient
    return recipient._replace(sessions=(asker,))


async def _replaces(act: Act, message: Message, policy: SendPolicy) -> bool:
    """Tell whether a message supersedes older ones of its sender with the same scope and subject."""
    if not supersedes(message):
        return False
    return policy.supersedes or not await is_on(act.tx, SUBJECTS_ARE_CATEGORIES)


async def _supersede(act: Act, message: Message, inbox: InboxId) -> bool:
    """Supersede the older messages with the same scope and subject; tell whether there were any."""
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
) -> DeliveryRecord:
    """Return one delivery in its first state: queued, refused, or undeliverable."""
    state = DeliveryState.QUEUED
    if refused is not None:
        is_offline = refused.code is RefusalCode.NO_LIVE_SESSION
        state = DeliveryState.UNDELIVERABLE if is_offline else DeliveryState.REFUSED
    return DeliveryRecord(  # positional arguments, for speed: every copy of every message runs this code
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


async def _early(incoming: Incoming, recipient: Unregistered, n: int) -> DeliveryRecord:
    """Return the delivery for an unregistered session id. The delivery waits for a limited time."""
    act, message = incoming.act, incoming.message
    inbox = session_inbox(recipient.session_id)
    await make_room(act, inbox, PEERS_CAPACITY, incoming.notice_ports, incoming.evicted)
    return _briefly(_line(message, n, None, inbox, act.now, None), act.now)


def _briefly(line: DeliveryRecord, now: datetime) -> DeliveryRecord:
    """Return the delivery with the short expiry of mail for the peers' wire."""
    until = now + UNREGISTERED_WAIT
    return line._replace(expires_at=min(until, line.expires_at) if line.expires_at else until)
