"""Approvals: asking for one, waiting for the decision, and deciding, once."""

from covey.core.errors import AlreadyDecided, Invalid, MessageUnknown, NotAnApproval, TicketUnknown
from covey.core.identity import Identity
from covey.core.ids import MessageId, TicketId, ticket_message
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind
from covey.core.ledger.outcome import Outcome
from covey.core.ledger.receipt import Receipt
from covey.core.work.approval import Approval, ApprovalName, Decision, approval_of, request_part, requested
from covey.core.work.approval import answer_parts as parts_of
from covey.ports.clock import Clock, Ids
from covey.services.mail.asks import Asks
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy


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

    async def decide(self, message_id: MessageId, actor: Identity, decision: Decision) -> Receipt:
        """Approve or reject for the agent that was asked, and close the debt in the same commit.

        The first decision counts: a different one raises AlreadyDecided, the same one again changes nothing. Rejecting
        needs a reason, because the asker has to act on it.
        """
        request = requested(await self._mail.message(message_id))
        if request is None:
            raise NotAnApproval(message_id)
        if not decision.approve and not decision.reason.strip():
            raise Invalid("reason", None, "say why it is rejected: whoever asked has to make something of it")
        draft = Draft(Kind.RESPONSE, (), parts_of(request, decision), in_reply_to=message_id)
        try:
            return await self._mail.send(draft, actor, SendPolicy(closes=True))
        except AlreadyDecided as before:
            if before.answer is None or before.decision != decision.word:
                raise
            return await self._mail.receipt(MessageId(before.answer))
