"""Acceptance: whom a message reaches, what gives way to it, and which debts it opens or answers; one transaction."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.capacity import EVICTION_ORDER, PEERS_CAPACITY, Capacity
from covey.core.debt import new_ticket
from covey.core.delivery import Delivery, DeliveryState, Move
from covey.core.errors import CoveyError
from covey.core.ids import InboxId, delivery_id, parked_inbox, session_inbox, ticket_id
from covey.core.limits import UNREGISTERED_WAIT
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.receipt import Receipt
from covey.core.routing import Recipient, Refusal, RefusalCode, places, refusal, supersedes
from covey.core.ticket import Ticket, Trouble
from covey.core.wire import encode
from covey.ports.clock import Ids
from covey.ports.presence import Liveness
from covey.services.act import Act, shift
from covey.services.answers import apply_answer, apply_question_back, debts_of, is_due, settle_answered
from covey.services.decisions import check_decision
from covey.services.filing import file
from covey.services.notices import report_trouble, report_unauthorized
from covey.services.policies import PAUSED, TELL_UNAUTHORIZED, is_on
from covey.services.recipients import SendPolicy, Unregistered, introduce, recipients
from covey.services.routes import Alike, Route, Routes
from covey.services.steady import SteadyLook
from covey.services.task_moves import Desk
from covey.services.task_opening import open_task, task_refusal


class Acceptance:
    """Takes composed messages into the ledger."""

    def __init__(self, ids: Ids, liveness: Liveness) -> None:
        self._ids = ids
        self._look = SteadyLook(liveness)
        self._routes = Routes()

    async def accept(
        self,
        act: Act,
        message: Message,
        document: str,
        policy: SendPolicy,
        answered: Message | None,
        evicted: list[Delivery],
    ) -> Receipt | CoveyError:
        """File `message` for everyone it is for. A recipient that can't have it is a line of the receipt, not an
        error. What gave way to it is added to `evicted`. One that is part of a storm is not filed: the error that says
        so is returned, because what was written down of it stands."""
        moment = act.tx.moment
        known = self._routes.find(message, policy, moment) if answered is None else None
        if known is not None and (route := known[1]) is not None:
            receipt = await _along(act, message, document, route)
            if receipt is not None:
                return receipt
        liveness = self._look.at(moment)
        # A sender that nobody knew becomes known, so that it can be answered.
        sender = await act.tx.agents.get(message.sender.agent) or await introduce(act, message.sender.agent)
        is_person = message.sender.is_operator or sender.card.channel
        if not is_person and not policy.finishes and await act.tx.settings.get(PAUSED):
            from covey.services.pauses import check_not_paused  # here because seldom anything is

            await check_not_paused(act.tx, sender.name)
        if answered is not None:
            await check_decision(act, message, answered)
        debts = await debts_of(act, message) if answered is not None and answered.expects_reply else ()
        is_reply = answered is not None and message.trace == answered.trace
        deliveries: list[Delivery] = []
        tickets: list[Ticket] = []
        unauthorized: list[AgentName] = []
        channels: list[AgentName] = []
        found = await recipients(act, message.to, message.sender.agent, policy, liveness)
        if message.root != message.id:  # a message that begins something is weighed with what it leads to
            from covey.services.weighing import Weighed, weigh

            agents = [recipient for recipient in found if isinstance(recipient, Recipient)]
            weighed = Weighed(message, is_person, agents, debts, policy.spawns)
            stopped = await weigh(act, weighed, Desk(self._ids, liveness))
            if stopped is not None:
                return stopped
        for recipient in found:
            n = len(deliveries) + 1
            if isinstance(recipient, Unregistered):
                await self._make_room(act, session_inbox(recipient.session_id), PEERS_CAPACITY, liveness, evicted)
                deliveries.append(_early(message, n, recipient, act.now))
                continue
            due = answered is not None and await is_due(act, message, recipient.agent, debts, answered)
            refused = refusal(message, recipient, sender.card, due, is_reply=is_reply)
            if refused is None and message.kind is Kind.TASK:
                refused = await task_refusal(act, recipient)
            lines = (
                [_line(message, n, recipient.agent, parked_inbox(recipient.agent), act.now, refused)]
                if refused
                else await self._deliveries(act, message, recipient, policy, answered, due, n, liveness, evicted)
            )
            deliveries.extend(lines)
            if recipient.card.channel:
                channels.append(recipient.agent)
            if refused is not None and refused.code is RefusalCode.NOT_ALLOWED:
                unauthorized.append(recipient.agent)
            if message.expects_reply:
                tickets.append(new_ticket(message, recipient.agent, [line.state for line in lines], act.now))
        receipt = await file(act, message, document, deliveries, tickets)
        if known is not None:
            self._keep_route(act, known[0], found, deliveries)
        if channels:
            from covey.services.posting import post_all  # here because most mail is not for people

            await post_all(act, message, answered, [copy for copy in deliveries if copy.agent in channels])
        if message.kind is Kind.TASK:
            await open_task(act, message, receipt.deliveries[0])
        if debts and evicted:  # to make room for it a request may have been pushed out of an inbox
            debts = await debts_of(act, message)
        if answered is not None and _answers(message, answered, deliveries):
            if not await apply_answer(act, message, debts, closes=policy.closes):
                await settle_answered(act, message, answered)
        elif tickets and debts:
            await apply_question_back(act, debts, tickets)
        if answered is not None and (message.round is not None or message.metadata):
            from covey.services.negotiation_end import conclude  # here because most messages are part of none

            await conclude(act, message, answered, self._ids, self._follow)
        if policy.waits is not None and policy.waits > 0:
            from covey.services.waits import begin_wait  # here because most messages are not waited for

            await begin_wait(act, message, tickets, policy.waits, liveness)
        if unauthorized and await is_on(act.tx, TELL_UNAUTHORIZED):
            for agent in unauthorized:
                await report_unauthorized(act, message, agent, self._ids, liveness)
        return receipt

    def _keep_route(
        self, act: Act, like: Alike, found: Sequence[Recipient | Unregistered], deliveries: Sequence[Delivery]
    ) -> None:
        """Keep in mind where the message went, if it got there, and nothing but the rules had a say in that."""
        recipient = found[0] if len(found) == 1 else None
        if not isinstance(recipient, Recipient) or recipient.card.channel:
            return
        if all(line.state is DeliveryState.QUEUED for line in deliveries):
            places = [(line.inbox, _capacity(recipient, line.inbox)) for line in deliveries]
            self._routes.keep(like, Route(recipient.agent, places), act.tx.moment)

    async def _follow(self, act: Act, message: Message, answered: Message) -> Receipt | CoveyError:
        """Accept what another message leads to by itself."""
        return await self.accept(act, message, encode(message), SendPolicy(finishes=True), answered, [])

    async def _deliveries(
        self,
        act: Act,
        message: Message,
        recipient: Recipient,
        policy: SendPolicy,
        answered: Message | None,
        due: bool,
        n: int,
        liveness: Liveness,
        evicted: list[Delivery],
    ) -> list[Delivery]:
        asker = answered.sender.session if answered is not None else None
        inboxes = places(message, recipient, policy.when_offline, asker)
        if isinstance(inboxes, Refusal):
            return [_line(message, n, recipient.agent, parked_inbox(recipient.agent), act.now, inboxes)]
        number = await act.tx.agents.next_number(recipient.agent)
        lines: list[Delivery] = []
        for offset, inbox in enumerate(inboxes):
            # What takes the place of an older state needs no room of its own. People are told each in its conversation.
            replaces = supersedes(message) and not recipient.card.channel
            has_room = due or (replaces and await _supersede(act, message, inbox))
            refused = None
            if not has_room:
                capacity = _capacity(recipient, inbox)
                if await act.tx.inboxes.queued(inbox) >= capacity.limit:
                    refused = await self._make_room(act, inbox, capacity, liveness, evicted)
            lines.append(_line(message, n + offset, recipient.agent, inbox, act.now, refused, number))
        return lines

    async def _make_room(
        self, act: Act, inbox: InboxId, capacity: Capacity, liveness: Liveness, evicted: list[Delivery]
    ) -> Refusal | None:
        """Make the inbox hold one less than its limit, or say that it is full."""
        while await act.tx.inboxes.queued(inbox) >= capacity.limit:
            victim = None
            for kinds in EVICTION_ORDER[capacity.overflow]:
                victim = victim or await act.tx.inboxes.oldest(inbox, kinds)
            if victim is None:
                return Refusal(RefusalCode.INBOX_FULL, f"the inbox holds its limit of {capacity.limit}")
            await self._evict(act, victim, capacity, liveness)
            evicted.append(victim)
        return None

    async def _evict(self, act: Act, victim: Delivery, capacity: Capacity, liveness: Liveness) -> None:
        await shift(act, victim, Move.EVICT, f"the inbox held its limit of {capacity.limit}")
        if victim.expects_reply and victim.agent is not None:
            copies = await act.tx.deliveries.of_message(victim.message_id)
            if all(copy.is_terminal for copy in copies if copy.agent == victim.agent):
                ticket = await act.tx.tickets.get(ticket_id(victim.message_id, victim.agent))
                if ticket is not None:
                    await report_trouble(act, ticket, Trouble.EVICTED, self._ids, liveness)


async def _along(act: Act, message: Message, document: str, route: Route) -> Receipt | None:
    """File a message where one like it went; None where something has to give way for it."""
    agent, places = route
    queued = act.tx.inboxes.queued
    for inbox, capacity in places:
        if await queued(inbox) >= capacity.limit:
            return None
    number = await act.tx.agents.next_number(agent)
    lines = [_line(message, n, agent, inbox, act.now, None, number) for n, (inbox, _) in enumerate(places, 1)]
    owed = [new_ticket(message, agent, [line.state for line in lines], act.now)] if message.expects_reply else ()
    return await file(act, message, document, lines, owed)


def _answers(message: Message, answered: Message, deliveries: Sequence[Delivery]) -> bool:
    """Tell whether a response goes to whoever asked. One to others only is threaded, and nothing is answered."""
    return message.kind is Kind.RESPONSE and any(line.agent == answered.sender.agent for line in deliveries)


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


def _early(message: Message, n: int, recipient: Unregistered, now: datetime) -> Delivery:
    """Return the delivery for a session id that nobody has registered: it waits for a while."""
    until = now + UNREGISTERED_WAIT
    line = _line(message, n, None, session_inbox(recipient.session_id), now, None)
    return line._replace(expires_at=min(until, message.expires_at) if message.expires_at else until)
