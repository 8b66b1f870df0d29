"""Acceptance: whom a message reaches, what gives way to it, and which debts it opens or answers; one transaction."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.address import Address, AddressKind
from covey.core.capacity import PEERS_CAPACITY, Capacity
from covey.core.debt import new_ticket
from covey.core.delivery import Delivery, DeliveryState, Move
from covey.core.errors import CoveyError
from covey.core.ids import InboxId, delivery_id, parked_inbox, session_inbox
from covey.core.limits import FLOW_SAMPLE, UNREGISTERED_WAIT
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.core.receipt import Receipt
from covey.core.routing import Recipient, Refusal, RefusalCode, places, refusal, supersedes
from covey.core.ticket import Ticket
from covey.core.wire import encode
from covey.ports.clock import Ids
from covey.ports.presence import Liveness
from covey.services.act import Act, shift
from covey.services.answers import apply_answer, apply_question_back, debts_of, is_due, pays, settle_answered
from covey.services.decisions import check_decision
from covey.services.filing import file
from covey.services.notices import report_unauthorized
from covey.services.policies import PAUSED, STOPPED, SUBJECTS_ARE_CATEGORIES, TELL_UNAUTHORIZED, is_on
from covey.services.presence import is_live
from covey.services.recipients import SendPolicy, Unregistered, introduce, recipients
from covey.services.room import make_room
from covey.services.routes import Alike, Route, Routes
from covey.services.steady import SteadyLook
from covey.services.task_opening import open_task, task_refusal
from covey.services.updates import Desk


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
                if receipt.deliveries[0].number % FLOW_SAMPLE == 0:
                    await self._sample(act, message, receipt, is_due=False)
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
        found = await recipients(act, message.to, message.sender, policy, liveness)
        agents = [recipient for recipient in found if isinstance(recipient, Recipient)]
        if is_person:
            from covey.services.flows import look_after  # here because people write seldom

            await look_after(act, agents)
        is_return = _is_return(message, answered, debts, agents)
        if not is_person and not is_return and not policy.finishes and await act.tx.settings.get(STOPPED):
            from covey.services.flows import check_not_stopped  # here because seldom anything is

            await check_not_stopped(act, message, agents)
        if message.root != message.id:  # a message that begins something is weighed with what it leads to
            from covey.services.weighing import Weighed, weigh

            weighed = Weighed(message, is_person, agents, debts, policy.spawns)
            stopped = await weigh(act, weighed, Desk(self._ids, liveness))
            if stopped is not None:
                return stopped
        for recipient in found:
            n = len(deliveries) + 1
            if isinstance(recipient, Unregistered):
                desk = Desk(self._ids, liveness)
                await make_room(act, session_inbox(recipient.session_id), PEERS_CAPACITY, desk, evicted)
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
        if not is_person and any(copy.number % FLOW_SAMPLE == 0 for copy in receipt.deliveries):
            await self._sample(act, message, receipt, is_due=is_return)
        if known is not None and not is_person:  # what a person says is looked at each time
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
        if answered is not None and (answered.marks is not None or message.marks is not None):
            from covey.services.negotiation_end import conclude  # here because most messages are part of none

            await conclude(act, message, answered, self._ids, self._follow)
        if policy.takes > 0 or (policy.waits is not None and policy.waits > 0):
            from covey.services.waits import begin_wait  # here because most messages are not waited for

            await begin_wait(act, message, tickets, policy, liveness)
        if unauthorized and await is_on(act.tx, TELL_UNAUTHORIZED):
            for agent in unauthorized:
                await report_unauthorized(act, message, agent, self._ids, liveness)
        return receipt

    def _keep_route(
        self, act: Act, like: Alike, found: Sequence[Recipient | Unregistered], deliveries: Sequence[Delivery]
    ) -> None:
        """Keep in mind where the message went, if it got there, and nothing but the rules had a say in that."""
        recipient = found[0] if len(found) == 1 else None
        if not isinstance(recipient, Recipient) or recipient.card.channel or recipient.card.wire_name is not None:
            return
        if all(line.state is DeliveryState.QUEUED for line in deliveries):
            places = [(line.inbox, _capacity(recipient, line.inbox)) for line in deliveries]
            self._routes.keep(like, Route(recipient.agent, places), act.tx.moment)

    async def _sample(self, act: Act, message: Message, receipt: Receipt, *, is_due: bool) -> None:
        """Count who writes to whom, by a message that was filed just now."""
        from covey.services.flows import count_samples, samples_of  # here because most messages are not sampled

        desk = Desk(self._ids, self._look.at(act.tx.moment))
        await count_samples(act, message, samples_of(receipt.deliveries), desk, is_due=is_due)

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
        if answered is not None and asker is not None:
            recipient = await _back_to_child(act, message, recipient, answered, liveness)
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
                    refused = await make_room(act, inbox, capacity, Desk(self._ids, liveness), evicted)
            line = _line(message, n + offset, recipient.agent, inbox, act.now, refused, number)
            lines.append(line if recipient.card.wire_name is None else _briefly(line, act.now))
        return lines


async def _back_to_child(
    act: Act, message: Message, recipient: Recipient, answered: Message, liveness: Liveness
) -> Recipient:
    """Return the recipient of a reply: the child that wrote what is answered, where its agent was addressed by name.
    The name alone means the agent's main sessions."""
    back = Address(AddressKind.AGENT, answered.sender.agent)
    if recipient.agent != answered.sender.agent or back not in message.to or message.kind is Kind.TASK:
        return recipient
    asker = await act.tx.sessions.get(answered.sender.session) if answered.sender.session else None
    if asker is None or asker.key.is_main or not is_live(asker, liveness, act.now):
        return recipient
    return recipient._replace(sessions=(asker,))


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


def _is_return(
    message: Message, answered: Message | None, debts: Sequence[Ticket], recipients: Sequence[Recipient]
) -> bool:
    """Tell whether a message returns what somebody asked for: it answers an open question, or tells or asks the
    delegator of a task something about it."""
    if answered is None:
        return False
    if message.kind is Kind.UPDATE or pays(message, debts, [recipient.agent for recipient in recipients]):
        return True
    is_about_task = answered.kind is Kind.TASK and answered.sender.agent != message.sender.agent
    return is_about_task and message.expects_reply


def _answers(message: Message, answered: Message, deliveries: Sequence[Delivery]) -> bool:
    """Tell whether a response goes to whoever asked. One to others only is threaded, and nothing is answered."""
    return message.kind is Kind.RESPONSE and any(line.agent == answered.sender.agent for line in deliveries)


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


def _early(message: Message, n: int, recipient: Unregistered, now: datetime) -> Delivery:
    """Return the delivery for a session id that nobody has registered: it waits for a while."""
    return _briefly(_line(message, n, None, session_inbox(recipient.session_id), now, None), now)


def _briefly(line: Delivery, now: datetime) -> Delivery:
    """Return a delivery that waits only as long as mail for the peers' wire does."""
    until = now + UNREGISTERED_WAIT
    return line._replace(expires_at=min(until, line.expires_at) if line.expires_at else until)
