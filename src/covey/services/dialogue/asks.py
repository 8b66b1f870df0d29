"""Asks: questions with a durable ticket, and requests for approval. The end of an ask is a value, and a ticket can be
resumed later."""

from typing import Final

from covey.core.errors import (
    AlreadyDecided,
    Invalid,
    MessageUnknown,
    NotAnApproval,
    NotYours,
    SessionUnknown,
    TicketUnknown,
    WaitCircle,
)
from covey.core.identity import EVERYONE, Identity
from covey.core.ledger.delivery import WAITING, DeliveryRecord, Move
from covey.core.ledger.draft import Draft
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.outcome import Outcome, OutcomeKind, ReceiptRecord, settled_outcome
from covey.core.ledger.ticket import Ticket
from covey.core.names import MessageId, TicketId, inbox_topic, message_topic, session_inbox, ticket_id, ticket_message
from covey.core.work.approval import Approval, ApprovalName, Decision, approval_of, request_part, requested
from covey.core.work.approval import answer_parts as parts_of
from covey.ports.clock import Clock, Ids
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.attention.recently_shown import RecentlyShown
from covey.services.dialogue.dialogue import known_ticket
from covey.services.mail.mail import Mail
from covey.services.mail.notices import is_notice_of
from covey.services.mail.recipients import SendPolicy
from covey.services.mail.waits import WaitRegistry
from covey.services.polling import Poller

KNOWN_AFTER: Final = 1.0
"""Seconds. A resumed wait of at most this length is not recorded as blocking."""

NOT_YET: Final = "no answer yet; it will arrive in the inbox, or resume with the ticket"


class Asks:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        mail: Mail,
        waiting: Poller,
        waits: WaitRegistry,
        recently_shown: RecentlyShown,
    ) -> None:
        self._ids = ids
        self._recently_shown = recently_shown
        self._store = store
        self._clock = clock
        self._mail = mail
        self._waits = waits
        self._waiting = waiting

    async def ask(
        self,
        draft: Draft,
        actor: Identity,
        policy: SendPolicy,
        timeout: float,
        *,
        heeds_questions: bool = False,
        answered: Message | None = None,
        marks: Marks | None = None,
    ) -> Outcome:
        """Send a request to one agent and wait for its answer. With `heeds_questions` a question back also ends the
        wait: the ticket then awaits the answer to that question. `answered` is the message that the request replies to,
        if the caller has loaded it."""
        if draft.kind is not Kind.REQUEST or not draft.expects_reply:
            raise Invalid("kind", str(draft.kind), "an ask is a request that expects a reply")
        if len(draft.to) > 1 or EVERYONE in draft.to:
            raise Invalid("recipients", len(draft.to), "an ask goes to one agent; send a request to several instead")
        waits = timeout if policy.waits is None else policy.waits
        takes = max(waits, timeout)
        policy = policy._replace(
            may_await_session=False, waits=waits, takes=takes, takes_questions=heeds_questions and takes > 0
        )
        if not heeds_questions or actor.session is None or timeout <= 0:
            ticket, _ = await self._post(draft, actor, policy, answered, marks)
            return await self._await(ticket, actor, timeout, heeds_questions)
        # In a conversation the asker listens at its own inbox, where answers and questions arrive. The topic is always
        # the same, so that listening costs nothing from the second round on. Other ends of an ask are found by the next
        # poll.
        async with self._waiting.listen([inbox_topic(session_inbox(actor.session))]) as bell:
            ticket, is_delivered = await self._post(draft, actor, policy, answered, marks)
            try:
                ended = None if is_delivered else await self._end(ticket, actor)
                if ended is None:
                    ended = await self._waiting.after(bell, lambda: self._end(ticket, actor), timeout)
                return ended if ended is not None else await self._conclude(ticket, actor, heeds_questions)
            except GeneratorExit:
                raise  # nothing may be awaited any more
            except BaseException:
                await self._waits.give_up(ticket, actor)
                raise

    async def _post(
        self, draft: Draft, actor: Identity, policy: SendPolicy, answered: Message | None, marks: Marks | None
    ) -> tuple[TicketId, bool]:
        """Send the question. Return its ticket, and whether every copy is in an inbox now."""
        question = draft.id or self._ids.message_id(self._clock.now())
        try:
            receipt = (await self._mail.submit(draft, actor, policy, answered, marks, new_id=question)).receipt
        except (Exception, GeneratorExit):
            raise
        except BaseException:  # cancelled: the question may be accepted anyway, and no caller waits for its answer
            await self._waits.give_up_all(question, actor)
            raise
        debtor = next((delivery.agent for delivery in receipt.deliveries), None)
        if debtor is None:  # the same id was sent before, to a session that is not registered yet
            raise SessionUnknown(f"of the recipient of {receipt.message_id}")
        return ticket_id(receipt.message_id, debtor), all(copy.state in WAITING for copy in receipt.deliveries)

    async def resume(
        self, ticket: TicketId, actor: Identity, timeout: float, *, heeds_questions: bool = False
    ) -> Outcome:
        """Wait for the answer to an earlier question, also one that another process asked for the same agent. Raise
        WaitCircle if the wait would close a cycle."""
        await self._check_asker(ticket, actor)
        begins = timeout > 0 and await self._look(ticket, heeds_questions) is None
        return await self._await(ticket, actor, timeout, heeds_questions, begins=begins)

    async def _look(self, ticket: TicketId, heeds_questions: bool) -> Ticket | None:
        found = await self._ticket(ticket)
        is_asked_back = heeds_questions and found.awaits is not None
        return found if is_asked_back or settled_outcome(found) is not None else None

    async def _await(
        self, ticket: TicketId, actor: Identity, timeout: float, heeds_questions: bool, *, begins: bool = False
    ) -> Outcome:
        """Wait for the answer. With `begins`, the wait of the actor is not recorded yet and is recorded first."""
        topics = [message_topic(ticket_message(ticket))]
        try:
            if begins:
                blocks = timeout > KNOWN_AFTER
                await self._waits.begin(ticket, actor, timeout, blocks=blocks, takes_questions=heeds_questions)
            settled = await self._waiting.until(topics, lambda: self._look(ticket, heeds_questions), timeout)
            if settled is None and timeout <= 0:  # a caller that only polled may go on to wait
                return await self._given(await self._ticket(ticket), None, actor)
            return await self._conclude(ticket, actor, heeds_questions)
        except (WaitCircle, GeneratorExit):
            raise  # no wait has begun, or nothing may be awaited any more
        except BaseException:
            await self._waits.give_up(ticket, actor)
            raise

    async def _ticket(self, ticket: TicketId) -> Ticket:
        async def operation(tx: Transaction) -> Ticket:
            return await known_ticket(tx, ticket)

        return await self._store.read(operation)

    async def _check_asker(self, ticket: TicketId, actor: Identity) -> None:
        found = await self._ticket(ticket)
        if found.asker != actor.agent and not actor.is_operator:
            raise NotYours("wait for the answer to", found.message_id, actor.agent, found.asker)

    async def _conclude(self, ticket_id: TicketId, actor: Identity, heeds_questions: bool) -> Outcome:
        """Return the outcome of the ask, in one commit with the end of the wait. The asker now has the answer or the
        notice of trouble: its delivery is settled, and the inbox does not show it again. Later messages go to the
        inbox. A question back stays in the asker's inbox, to be taken next."""

        async def operation(tx: Transaction) -> tuple[Ticket, Message | None]:
            ticket = await known_ticket(tx, ticket_id)
            if settled_outcome(ticket) is not None:
                return ticket, await self._give(tx, ticket, actor)
            if ticket.awaits is None or not heeds_questions:
                await tx.waits.remove(actor.agent, ticket.id)
            return ticket, None

        # Light: after a power cut the asker is shown the answer once more, but has also lost all the work based on it.
        return await self._given(*await self._store.commit(operation, is_light=True), actor)

    async def _end(self, ticket_id: TicketId, actor: Identity) -> Outcome | None:
        """Return the outcome of an ask that heeds questions, in one commit with the read. None while it has not
        ended."""

        async def operation(tx: Transaction) -> tuple[Ticket, Message | None] | None:
            ticket = await known_ticket(tx, ticket_id)
            if settled_outcome(ticket) is not None:
                return ticket, await self._give(tx, ticket, actor)
            return None if ticket.awaits is None else (ticket, None)

        found = await self._store.commit(operation, is_light=True)
        return None if found is None else await self._given(*found, actor)

    async def _give(self, tx: Transaction, ticket: Ticket, actor: Identity) -> Message | None:
        act = Act(tx, actor, self._clock.now())
        await tx.waits.remove(actor.agent, ticket.id)
        answer = await tx.messages.get(ticket.answer) if ticket.answer else None
        for message in await tx.messages.thread(ticket.thread) if ticket.trouble else [answer] if answer else ():
            if message.id == ticket.answer or is_notice_of(message, ticket):
                for copy in await tx.deliveries.of_message(message.id):
                    await _take(act, copy)
        return answer

    async def _given(self, ticket: Ticket, answer: Message | None, actor: Identity) -> Outcome:
        kind = settled_outcome(ticket) or OutcomeKind.DELIVERED_NO_REPLY
        if kind is OutcomeKind.DELIVERED_NO_REPLY:
            return Outcome(kind, ticket, reason=NOT_YET)
        if answer is not None:
            self._recently_shown.shown(actor.session, [(answer.sender.agent, answer.id)])
        return Outcome(kind, ticket, answer, reason=await self._reason(ticket) if answer is None else "")

    async def _reason(self, ticket: Ticket) -> str:
        receipt = await self._mail.receipt(ticket.message_id)
        return next((d.reason for d in receipt.deliveries if d.agent == ticket.debtor and d.reason), "")


async def _take(act: Act, copy: DeliveryRecord) -> None:
    if copy.agent == act.actor.agent and copy.state in WAITING:
        await shift(act, copy, Move.SETTLE, "returned by ask")


class Approvals:
    def __init__(self, clock: Clock, ids: Ids, mail: Mail, asks: Asks) -> None:
        self._clock = clock
        self._ids = ids
        self._mail = mail
        self._asks = asks

    def prepared(self, draft: Draft, name: ApprovalName) -> Draft:
        """Return a question as a request for approval, with the id that it will have."""
        message_id = draft.id or self._ids.message_id(self._clock.now())
        return draft._replace(id=message_id, parts=(*draft.parts, request_part(name, message_id)))

    async def request(
        self, draft: Draft, name: ApprovalName, actor: Identity, policy: SendPolicy, timeout: float
    ) -> Approval:
        """Ask one agent for an approval and wait for its decision."""
        return await self.judged(await self._asks.ask(self.prepared(draft, name), actor, policy, timeout))

    async def resume(self, ticket: TicketId, actor: Identity, timeout: float) -> Approval:
        """Wait for the decision on an earlier request, also one that another process made for the same agent."""
        try:
            request = requested(await self._mail.message(ticket_message(ticket)))
        except MessageUnknown:
            raise TicketUnknown(ticket) from None
        if request is None:
            raise NotAnApproval(ticket_message(ticket))
        return await self.judged(await self._asks.resume(ticket, actor, timeout))

    async def judged(self, outcome: Outcome) -> Approval:
        """Convert the outcome of an ask into the approval that was asked for. Raise NotAnApproval if no approval was
        asked for."""
        request = requested(await self._mail.message(outcome.ticket.message_id))
        if request is None:
            raise NotAnApproval(outcome.ticket.message_id)
        return approval_of(request, outcome)

    async def decide(self, message_id: MessageId, actor: Identity, decision: Decision) -> ReceiptRecord:
        """Approve or reject for the agent that was asked, and close the debt in the same commit.

        The first decision counts: a different one raises AlreadyDecided, the same one again changes nothing. Rejecting
        needs a reason, because the asker has to act on it.
        """
        request = requested(await self._mail.message(message_id))
        if request is None:
            raise NotAnApproval(message_id)
        if not decision.approve and not decision.reason.strip():
            raise Invalid("reason", None, "say why it is rejected: the asker needs the reason")
        draft = Draft(Kind.RESPONSE, (), parts_of(request, decision), in_reply_to=message_id)
        try:
            return await self._mail.send(draft, actor, SendPolicy(closes=True))
        except AlreadyDecided as before:
            if before.answer is None or before.decision != decision.word:
                raise
            return await self._mail.receipt(MessageId(before.answer))
