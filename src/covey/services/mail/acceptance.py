"""Acceptance: a message becomes part of the ledger, in one transaction.

`Acceptance.accept` is the pipeline. First the facts are found out and checked, then the copies are placed and filed,
then the consequences follow: debts, tasks, waits, posts and reports. The placing itself is in `placement`.
"""

from collections.abc import Sequence

from covey.core.directory.routing import Recipient
from covey.core.errors import CoveyError
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import encode
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import AgentName
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act
from covey.services.directory.presence import LivenessCache
from covey.services.directory.settings import PAUSED, STOPPED, TELL_UNAUTHORIZED, check_not_paused, is_on
from covey.services.mail.answers import (
    apply_answer,
    apply_question_back,
    check_decision,
    debts_of,
    pays,
    settle_answered,
)
from covey.services.mail.filing import file
from covey.services.mail.notices import report_unauthorized
from covey.services.mail.placement import (
    Incoming,
    MessageFacts,
    Placement,
    RouteCache,
    place_along,
    place_by_rules,
    route_key,
    route_of,
)
from covey.services.mail.recipients import SendPolicy, introduce, recipients
from covey.services.tasks.open_tasks import open_task


class Acceptance:
    """Takes composed messages into the ledger."""

    def __init__(self, ids: Ids, liveness: Liveness) -> None:
        self._ids = ids
        self._look = LivenessCache(liveness)
        self._routes = RouteCache()

    async def accept(
        self,
        act: Act,
        message: Message,
        document: str,
        policy: SendPolicy,
        answered: Message | None,
        evicted: list[DeliveryRecord],
    ) -> ReceiptRecord | CoveyError:
        """File `message` for all its recipients.

        A recipient that can't have the message gets a line in the receipt, not an error. Deliveries that are evicted to
        make room are added to `evicted`. A message that is part of a storm is not filed: the error is returned and not
        raised, because the record of the storm must be committed.
        """
        version = act.tx.directory_version
        incoming = Incoming(act, message, policy, answered, evicted, self._ids, self._look.at(version))
        like = route_key(message, policy, answered)
        route = None if like is None else self._routes.find(like, version)
        placement = None if route is None else await place_along(incoming, route)
        if placement is not None:
            receipt = await file(act, message, document, placement.deliveries, placement.tickets)
            await _sample(incoming, receipt, is_due=False)
            return receipt
        facts = await _examine(incoming)
        stopped = await _weigh(incoming, facts)
        if stopped is not None:
            return stopped
        placement = await place_by_rules(incoming, facts)
        receipt = await file(act, message, document, placement.deliveries, placement.tickets)
        if not facts.is_person:
            await _sample(incoming, receipt, is_due=facts.is_return)
        route = route_of(facts, placement)
        if like is not None and route is not None:
            self._routes.keep(like, route, act.tx.directory_version)
        await self._follow_up(incoming, facts, placement, receipt)
        return receipt

    async def _follow_up(
        self, incoming: Incoming, facts: MessageFacts, placement: Placement, receipt: ReceiptRecord
    ) -> None:
        """Apply the consequences of a filed message."""
        act, message, answered = incoming.act, incoming.message, incoming.answered
        if placement.channels:
            await _post(incoming, placement)
        if message.kind is Kind.TASK:
            await open_task(act, message, receipt.deliveries[0])
        await _settle_debts(incoming, facts, placement)
        if answered is not None and (answered.marks is not None or message.marks is not None):
            # imported late because most messages are part of no negotiation
            from covey.services.dialogue.negotiation_end import conclude

            await conclude(act, message, answered, self._ids, self._accept_end)
        await _begin_wait(incoming, placement.tickets)
        if placement.unauthorized and await is_on(act.tx, TELL_UNAUTHORIZED):
            for agent in placement.unauthorized:
                await report_unauthorized(act, message, agent, self._ids, incoming.liveness)

    async def _accept_end(self, act: Act, message: Message, answered: Message) -> ReceiptRecord | CoveyError:
        """Accept the message that ends a negotiation."""
        return await self.accept(act, message, encode(message), SendPolicy(finishes=True), answered, [])


async def _examine(incoming: Incoming) -> MessageFacts:
    """Return the facts about a message that the rules depend on.

    Raise an error if the sender is paused, an exchange with a recipient is stopped, or a recipient is unknown.
    """
    act, message, answered = incoming.act, incoming.message, incoming.answered
    # An unknown sender is registered, so that it can be answered.
    sender = await act.tx.agents.get(message.sender.agent) or await introduce(act, message.sender.agent)
    is_person = message.sender.is_operator or sender.card.channel
    if not is_person:
        await _check_not_paused(incoming, sender.name)
    if answered is not None:
        await check_decision(act, message, answered)
    debts = await debts_of(act, message) if answered is not None and answered.expects_reply else ()
    found = await recipients(act, message.to, message.sender, incoming.policy, incoming.liveness)
    agents = [recipient for recipient in found if isinstance(recipient, Recipient)]
    if is_person:
        from covey.services.storms.storms import look_after  # imported late because people seldom write

        await look_after(act, agents)
    is_return = _is_return(message, answered, debts, agents)
    if not is_person and not is_return:
        await _check_not_stopped(incoming, agents)
    return MessageFacts(sender.card, is_person, debts, found, agents, is_return)


async def _check_not_paused(incoming: Incoming, sender: AgentName) -> None:
    """Raise an error if the sender is paused, unless the message finishes its current work."""
    if not incoming.policy.finishes and await incoming.act.tx.settings.get(PAUSED):
        await check_not_paused(incoming.act.tx, sender)


async def _check_not_stopped(incoming: Incoming, agents: Sequence[Recipient]) -> None:
    """Raise an error if the exchange with a recipient is stopped, unless the message finishes current work."""
    if not incoming.policy.finishes and await incoming.act.tx.settings.get(STOPPED):
        from covey.services.storms.storms import check_not_stopped  # imported late because exchanges are seldom stopped

        await check_not_stopped(incoming.act, incoming.message, agents)


async def _weigh(incoming: Incoming, facts: MessageFacts) -> CoveyError | None:
    """Count a message in its causal tree; return the error if the tree is a storm. A message that begins a tree is
    counted with the first message that it leads to."""
    message = incoming.message
    if message.root == message.id:
        return None
    # imported late because most messages begin a tree
    from covey.services.storms.check import CheckedMessage, check_storm

    weighed = CheckedMessage(message, facts.is_person, facts.agents, facts.debts, incoming.policy.spawns)
    return await check_storm(incoming.act, weighed, incoming.notice_ports)


async def _sample(incoming: Incoming, receipt: ReceiptRecord, *, is_due: bool) -> None:
    """Count the messages from agent to agent, by a sample of the filed ones."""
    for copy in receipt.deliveries:
        if copy.number % FLOW_SAMPLE == 0:
            break
    else:
        return
    # imported late because most messages are not sampled
    from covey.services.storms.storms import count_samples, samples_of

    await count_samples(
        incoming.act, incoming.message, samples_of(receipt.deliveries), incoming.notice_ports, is_due=is_due
    )


async def _post(incoming: Incoming, placement: Placement) -> None:
    """Create the posts for the recipients that are channels to people."""
    from covey.services.channels.conversations import post_all  # imported late because most mail is not for people

    copies = [copy for copy in placement.deliveries if copy.agent in placement.channels]
    await post_all(incoming.act, incoming.message, incoming.answered, copies)


async def _settle_debts(incoming: Incoming, facts: MessageFacts, placement: Placement) -> None:
    """Settle the debts that a response answers, or postpone the debts for a question back."""
    act, message, answered, debts = incoming.act, incoming.message, incoming.answered, facts.debts
    if debts and incoming.evicted:  # a request may have been evicted to make room
        debts = await debts_of(act, message)
    if answered is not None and _answers(message, answered, placement.deliveries):
        if not await apply_answer(act, message, debts, closes=incoming.policy.closes):
            await settle_answered(act, message, answered)
    elif placement.tickets and debts:
        await apply_question_back(act, debts, placement.tickets)


async def _begin_wait(incoming: Incoming, tickets: Sequence[Ticket]) -> None:
    """Record that the sender waits for the outcome of the message, if it does."""
    policy = incoming.policy
    if policy.takes > 0 or (policy.waits is not None and policy.waits > 0):
        from covey.services.mail.waits import begin_wait  # imported late because most messages are not waited for

        await begin_wait(incoming.act, incoming.message, tickets, policy, incoming.liveness)


def _is_return(
    message: Message, answered: Message | None, debts: Sequence[Ticket], recipients: Sequence[Recipient]
) -> bool:
    """Tell whether a message returns requested information: it answers an open question, is an update, or asks the
    delegator of a task a question about that task."""
    if answered is None:
        return False
    if message.kind is Kind.UPDATE or pays(message, debts, [recipient.agent for recipient in recipients]):
        return True
    is_about_task = answered.kind is Kind.TASK and answered.sender.agent != message.sender.agent
    return is_about_task and message.expects_reply


def _answers(message: Message, answered: Message, deliveries: Sequence[DeliveryRecord]) -> bool:
    """Tell whether a response goes to the asker.

    A response that goes only to other agents is threaded, and answers nothing.
    """
    return message.kind is Kind.RESPONSE and any(line.agent == answered.sender.agent for line in deliveries)
