"""How a question stands, told while its asker waits: where its furthest copy is, and whether it was answered."""

from datetime import datetime
from typing import Final, NamedTuple

from covey.core.identity import Identity
from covey.core.ids import TicketId, message_topic, ticket_message
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import Outcome, settled_outcome
from covey.core.ledger.ticket import Ticket
from covey.services.space import Services
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.terminal.moments import moment
from covey.surfaces.cli.terminal.output import Output

_FURTHEST: Final = (DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT, DeliveryState.HANDLED)


class Standing(NamedTuple):
    ticket: Ticket
    copy: Delivery | None
    """The copy that got furthest, of those that the debtor has."""
    question: Message | None
    """What the debtor asks back before it answers."""

    @property
    def at(self) -> datetime:
        return self.copy.updated_at if self.copy else self.ticket.opened_at

    def told(self) -> tuple[str, str]:
        """Return how it stands: a word of the ledger, and what that means here."""
        debtor = self.ticket.debtor
        if (ending := settled_outcome(self.ticket)) is not None:
            return "answered" if self.ticket.answer else str(ending), ""
        if self.question is not None:
            return "waits", f"{debtor} asks back: {one_line(self.question.text)}"
        if self.copy is None:
            return "accepted", ""
        state = self.copy.state
        if self.copy.is_partly_seen:
            return str(state), f"{debtor} was {self.copy.seen}"
        return str(state), {
            DeliveryState.QUEUED: f"{debtor} is offline: it waits for the next session"
            if self.copy.is_parked
            else f"in the inbox of {debtor}",
            DeliveryState.OFFERED: f"shown to {debtor}; no evidence yet that it was read",
            DeliveryState.IN_CONTEXT: f"{debtor} has it in context ({self.copy.grade})",
        }.get(state, f"{debtor} answered nothing yet{f' ({self.copy.reason})' if self.copy.reason else ''}")


async def standing(services: Services, ticket_id: TicketId) -> Standing:
    """Return how the question of a ticket stands now."""
    ticket = await services.dialogue.ticket(ticket_id)
    receipt = await services.mail.receipt(ticket.message_id)
    copies = [copy for copy in receipt.deliveries if copy.agent == ticket.debtor and not copy.gave_way]
    question = await services.mail.message(ticket_message(ticket.awaits)) if ticket.awaits else None
    return Standing(ticket, max(copies, key=_distance, default=None), question)


async def await_answer(
    services: Services, output: Output, ticket: TicketId, actor: Identity, seconds: float
) -> Outcome:
    """Wait for the answer to a question, and tell a person at a terminal how it stands whenever that changes."""
    await services.waits.begin(ticket, actor, seconds)
    await follow(services, output, ticket, seconds)
    outcome = await services.asks.resume(ticket, actor, 0)
    if settled_outcome(outcome.ticket) is None:
        await services.waits.end(ticket, actor)
    return outcome


async def follow(
    services: Services, output: Output, ticket: TicketId, seconds: float, *, heeds_questions: bool = False
) -> None:
    """Tell a person at a terminal how a question stands, whenever that changes, until it is settled; with
    `heeds_questions` until something is asked back, too."""
    ends_at = services.clock.monotonic() + seconds
    told: tuple[str, str] | None = None

    async def look() -> Standing | None:
        now = await standing(services, ticket)
        return now if now.told() != told else None

    while True:
        left = max(0.0, ends_at - services.clock.monotonic())
        changed = await services.waiting.until([message_topic(ticket_message(ticket))], look, left)
        if changed is None:
            return
        told = changed.told()
        if heeds_questions and changed.question is not None:
            return
        output.step(moment(changed.at, *told))
        if changed.question is not None:
            output.step(f"  answer it: covey reply {changed.question.id} TEXT")
        if settled_outcome(changed.ticket) is not None:
            return


def _distance(copy: Delivery) -> int:
    return _FURTHEST.index(copy.state) if copy.state in _FURTHEST else -1
