"""Acceptance: a message becomes part of the ledger, in one transaction.

`Acceptance.accept` is the pipeline. First the facts are found out and checked, then the copies are placed and filed,
then the consequences follow: debts, tasks, waits, posts and reports. The placing itself is in `placement`.
"""

from collections.abc import Sequence

from covey.core.directory.routing import Recipient
from covey.core.errors import CoveyError
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.receipt import Receipt
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import encode
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import AgentName
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act
from covey.services.directory.policies import PAUSED, STOPPED, TELL_UNAUTHORIZED, is_on
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
from covey.services.mail.placement import Facts, Incoming, Placement, place_along, place_by_rules, route_of
from covey.services.mail.recipients import SendPolicy, introduce, recipients
from covey.services.mail.routes import Routes, alike
from covey.services.mail.steady import SteadyLook
from covey.services.tasks.opening import open_task


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
        error. Deliveries that made room for it are added to `evicted`. A message that is part of a storm is not filed:
        the error is returned and not raised, because the record of the storm must be committed."""
        moment = act.tx.moment
        incoming = Incoming(act, message, policy, answered, evicted, self._ids, self._look.at(moment))
        like = alike(message, policy, answered)
        route = None if like is None else self._routes.find(like, moment)
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
            self._routes.keep(like, route, act.tx.moment)
        await self._follow_up(incoming, facts, placement, receipt)
        return receipt

    async def _follow_up(self, incoming: Incoming, facts: Facts, placement: Placement, receipt: Receipt) -> None:
        """Do what a message leads to once it is filed."""
        act, message, answered = incoming.act, incoming.message, incoming.answered
        if placement.channels:
            await _post(incoming, placement)
        if message.kind is Kind.TASK:
            await open_task(act, message, receipt.deliveries[0])
        await _settle_debts(incoming, facts, placement)
        if answered is not None and (answered.marks is not None or message.marks is not None):
            from covey.services.dialogue.negotiation_end import conclude  # here because most messages are part of none

            await conclude(act, message, answered, self._ids, self._accept_end)
        await _begin_wait(incoming, placement.tickets)
        if placement.unauthorized and await is_on(act.tx, TELL_UNAUTHORIZED):
            for agent in placement.unauthorized:
                await report_unauthorized(act, message, agent, self._ids, incoming.liveness)

    async def _accept_end(self, act: Act, message: Message, answered: Message) -> Receipt | CoveyError:
        """Accept the message that ends a negotiation."""
        return await self.accept(act, message, encode(message), SendPolicy(finishes=True), answered, [])


async def _examine(incoming: Incoming) -> Facts:
    """Find out about a message all that the rules go by. A sender that is paused or stopped is an error, and so is a
    recipient that nobody knows."""
    act, message, answered = incoming.act, incoming.message, incoming.answered
    # A sender that nobody knew becomes known, so that it can be answered.
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
        from covey.services.storms.flows import look_after  # here because people write seldom

        await look_after(act, agents)
    is_return = _is_return(message, answered, debts, agents)
    if not is_person and not is_return:
        await _check_not_stopped(incoming, agents)
    return Facts(sender.card, is_person, debts, found, agents, is_return)


async def _check_not_paused(incoming: Incoming, sender: AgentName) -> None:
    """Raise an error if the sender is paused, unless the message brings to an end what it has in hand."""
    if not incoming.policy.finishes and await incoming.act.tx.settings.get(PAUSED):
        from covey.services.directory.pauses import check_not_paused  # here because seldom anything is

        await check_not_paused(incoming.act.tx, sender)


async def _check_not_stopped(incoming: Incoming, agents: Sequence[Recipient]) -> None:
    """Raise an error if the exchange with one of the recipients is stopped, with the same exception."""
    if not incoming.policy.finishes and await incoming.act.tx.settings.get(STOPPED):
        from covey.services.storms.flows import check_not_stopped  # here because seldom anything is

        await check_not_stopped(incoming.act, incoming.message, agents)


async def _weigh(incoming: Incoming, facts: Facts) -> CoveyError | None:
    """Count a message in its causal tree; return the error if the tree is a storm. A message that begins a tree is
    counted with the first message that it leads to."""
    message = incoming.message
    if message.root == message.id:
        return None
    from covey.services.storms.check import Weighed, weigh  # here because most messages begin something

    weighed = Weighed(message, facts.is_person, facts.agents, facts.debts, incoming.policy.spawns)
    return await weigh(incoming.act, weighed, incoming.desk)


async def _sample(incoming: Incoming, receipt: Receipt, *, is_due: bool) -> None:
    """Count who writes to whom, by a sample of the messages that are filed."""
    for copy in receipt.deliveries:
        if copy.number % FLOW_SAMPLE == 0:
            break
    else:
        return
    from covey.services.storms.flows import count_samples, samples_of  # here because most messages are not sampled

    await count_samples(incoming.act, incoming.message, samples_of(receipt.deliveries), incoming.desk, is_due=is_due)


async def _post(incoming: Incoming, placement: Placement) -> None:
    """Write the posts for the people that the message is for."""
    from covey.services.channels.posting import post_all  # here because most mail is not for people

    copies = [copy for copy in placement.deliveries if copy.agent in placement.channels]
    await post_all(incoming.act, incoming.message, incoming.answered, copies)


async def _settle_debts(incoming: Incoming, facts: Facts, placement: Placement) -> None:
    """Let a response answer the debts that it is for, and a question back postpone them."""
    act, message, answered, debts = incoming.act, incoming.message, incoming.answered, facts.debts
    if debts and incoming.evicted:  # to make room for it a request may have been pushed out of an inbox
        debts = await debts_of(act, message)
    if answered is not None and _answers(message, answered, placement.deliveries):
        if not await apply_answer(act, message, debts, closes=incoming.policy.closes):
            await settle_answered(act, message, answered)
    elif placement.tickets and debts:
        await apply_question_back(act, debts, placement.tickets)


async def _begin_wait(incoming: Incoming, tickets: Sequence[Ticket]) -> None:
    """Write down that the sender waits for what comes of the message, if it does."""
    policy = incoming.policy
    if policy.takes > 0 or (policy.waits is not None and policy.waits > 0):
        from covey.services.mail.waits import begin_wait  # here because most messages are not waited for

        await begin_wait(incoming.act, incoming.message, tickets, policy, incoming.liveness)


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
