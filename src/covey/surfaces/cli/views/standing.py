"""The standing of a question while its asker waits: the place of its furthest copy, and its answer."""

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
    """The debtor's copy that got furthest."""
    question: Message | None
    """The debtor's own question that must be answered first."""

    @property
    def at(self) -> datetime:
        return self.copy.updated_at if self.copy else self.ticket.opened_at

    def told(self) -> tuple[str, str]:
        """Return the present state: a word of the ledger, and an explanation."""
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
    """Return the present standing of a ticket's question."""
    ticket = await services.dialogue.ticket(ticket_id)
    receipt = await services.mail.receipt(ticket.message_id)
    copies = [copy for copy in receipt.deliveries if copy.agent == ticket.debtor and not copy.gave_way]
    question = await services.mail.message(ticket_message(ticket.awaits)) if ticket.awaits else None
    return Standing(ticket, max(copies, key=_distance, default=None), question)


async def await_answer(
    services: Services, output: Output, ticket: TicketId, actor: Identity, seconds: float
) -> Outcome:
    """Wait for the answer to a question, and report each change of its standing to a person at a terminal."""
    await services.waits.begin(ticket, actor, seconds)
    await follow(services, output, ticket, seconds)
    outcome = await services.asks.resume(ticket, actor, 0)
    if settled_outcome(outcome.ticket) is None:
        await services.waits.end(ticket, actor)
    return outcome


async def follow(
    services: Services, output: Output, ticket: TicketId, seconds: float, *, heeds_questions: bool = False
) -> None:
    """Report each change of a question's standing to a person at a terminal, until it is settled.

    With `heeds_questions`, also stop when the debtor asks back.
    """
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
