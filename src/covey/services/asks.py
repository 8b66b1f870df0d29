"""Asks: a question with a durable ticket; how it ends is a value, and it can be taken up again by the ticket."""

from covey.core.address import EVERYONE
from covey.core.delivery import WAITING, Delivery, Move
from covey.core.draft import Draft
from covey.core.errors import Invalid, NotYours, SessionUnknown
from covey.core.identity import Identity
from covey.core.ids import MessageId, TicketId, message_topic, ticket_id
from covey.core.message import Kind, Message
from covey.core.outcome import Outcome, OutcomeKind, settled_outcome
from covey.core.ticket import Ticket
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.dialogue import known_ticket
from covey.services.mail import Mail
from covey.services.notices import is_notice_of
from covey.services.recipients import SendPolicy
from covey.services.waiting import Waiting


class Asks:
    def __init__(self, store: Store, clock: Clock, mail: Mail, waiting: Waiting) -> None:
        self._store = store
        self._clock = clock
        self._mail = mail
        self._waiting = waiting

    async def ask(self, draft: Draft, actor: Identity, policy: SendPolicy, timeout: float) -> Outcome:
        """Send a request to one agent and wait for its answer."""
        if draft.kind is not Kind.REQUEST or not draft.expects_reply:
            raise Invalid("kind", str(draft.kind), "an ask is a request that expects a reply")
        if len(draft.to) > 1 or EVERYONE in draft.to:
            raise Invalid("recipients", len(draft.to), "an ask goes to one agent; send a request to several instead")
        receipt = await self._mail.send(draft, actor, policy._replace(may_await_session=False))
        debtor = next((delivery.agent for delivery in receipt.deliveries), None)
        if debtor is None:  # the same id was sent before, to a session that nobody has registered yet
            raise SessionUnknown(f"of the recipient of {receipt.message_id}")
        return await self.resume(ticket_id(receipt.message_id, debtor), actor, timeout)

    async def resume(self, ticket: TicketId, actor: Identity, timeout: float) -> Outcome:
        """Wait for the answer to an earlier question, also one that another process asked for the same agent."""
        message_id = MessageId(ticket.partition("@")[0])

        async def look() -> Ticket | None:
            found = await self._ticket(ticket)
            return found if settled_outcome(found) is not None else None

        await self._check_asker(ticket, actor)
        settled = await self._waiting.until([message_topic(message_id)], look, timeout)
        return await self._outcome(settled or await self._ticket(ticket), actor)

    async def _ticket(self, ticket: TicketId) -> Ticket:
        async def operation(tx: Transaction) -> Ticket:
            return await known_ticket(tx, ticket)

        return await self._store.read(operation)

    async def _check_asker(self, ticket: TicketId, actor: Identity) -> None:
        found = await self._ticket(ticket)
        if found.asker != actor.agent and not actor.is_operator:
            raise NotYours("wait for the answer to", found.message_id, actor.agent, found.asker)

    async def _outcome(self, ticket: Ticket, actor: Identity) -> Outcome:
        """Return how the ask ended. The answer, or the notice of trouble, has then been given to the asker: its
        delivery is settled, so that it does not arrive a second time in the inbox."""
        kind = settled_outcome(ticket) or OutcomeKind.DELIVERED_NO_REPLY
        if kind is OutcomeKind.DELIVERED_NO_REPLY:
            return Outcome(kind, ticket, reason="no answer yet; it will arrive in the inbox, or resume with the ticket")

        async def operation(tx: Transaction) -> Message | None:
            act = Act(tx, actor, self._clock.now())
            answer = await tx.messages.get(ticket.answer) if ticket.answer else None
            for message in await tx.messages.thread(ticket.thread):
                if message.id == ticket.answer or is_notice_of(message, ticket):
                    for copy in await tx.deliveries.of_message(message.id):
                        await _take(act, copy)
            return answer

        answer = await self._store.commit(operation)
        return Outcome(kind, ticket, answer, reason=await self._reason(ticket))

    async def _reason(self, ticket: Ticket) -> str:
        receipt = await self._mail.receipt(ticket.message_id)
        return next((d.reason for d in receipt.deliveries if d.agent == ticket.debtor and d.reason), "")


async def _take(act: Act, copy: Delivery) -> None:
    if copy.agent == act.actor.agent and copy.state in WAITING:
        await shift(act, copy, Move.SETTLE, "returned by ask")
