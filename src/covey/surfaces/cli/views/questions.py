"""A question while its asker waits, and its answer: the text on stdout, or how to wait on."""

import shlex
import sys
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import Outcome, OutcomeKind, settled_outcome
from covey.core.ledger.ticket import Ticket
from covey.core.names import TicketId, message_topic, ticket_message
from covey.core.work.approval import Approval
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.terminal.layout import event_line
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.views.debts import approval_document, ticket_document
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.messages import extras

_FURTHEST: Final = (DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT, DeliveryState.HANDLED)


class QuestionState(NamedTuple):
    ticket: Ticket
    copy: DeliveryRecord | None
    """The debtor's copy that got furthest."""
    question: Message | None
    """The debtor's own question that must be answered first."""

    @property
    def at(self) -> datetime:
        return self.copy.updated_at if self.copy else self.ticket.opened_at

    def describe(self) -> tuple[str, str]:
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


async def question_state(services: Services, ticket_id: TicketId) -> QuestionState:
    """Return the present standing of a ticket's question."""
    ticket = await services.dialogue.ticket(ticket_id)
    receipt = await services.mail.receipt(ticket.message_id)
    copies = [copy for copy in receipt.deliveries if copy.agent == ticket.debtor and not copy.gave_way]
    question = await services.mail.message(ticket_message(ticket.awaits)) if ticket.awaits else None
    return QuestionState(ticket, max(copies, key=_distance, default=None), question)


async def await_answer(
    services: Services, output: Output, ticket: TicketId, actor: Identity, seconds: float
) -> Outcome:
    """Wait for the answer to a question, and report each change of its standing to a person at a terminal."""
    await services.waits.begin(ticket, actor, seconds)
    await follow_question(services, output, ticket, seconds)
    outcome = await services.asks.resume(ticket, actor, 0)
    if settled_outcome(outcome.ticket) is None:
        await services.waits.end(ticket, actor)
    return outcome


async def follow_question(
    services: Services, output: Output, ticket: TicketId, seconds: float, *, heeds_questions: bool = False
) -> None:
    """Report each change of a question's standing to a person at a terminal, until it is settled.

    With `heeds_questions`, also stop when the debtor asks back.
    """
    ends_at = services.clock.monotonic() + seconds
    told: tuple[str, str] | None = None

    async def look() -> QuestionState | None:
        now = await question_state(services, ticket)
        return now if now.describe() != told else None

    while True:
        left = max(0.0, ends_at - services.clock.monotonic())
        changed = await services.waiting.until([message_topic(ticket_message(ticket))], look, left)
        if changed is None:
            return
        told = changed.describe()
        if heeds_questions and changed.question is not None:
            return
        output.step(event_line(changed.at, *told))
        if changed.question is not None:
            output.step(f"  answer it: covey reply {changed.question.id} TEXT")
        if settled_outcome(changed.ticket) is not None:
            return


def _distance(copy: DeliveryRecord) -> int:
    return _FURTHEST.index(copy.state) if copy.state in _FURTHEST else -1


def is_open(outcome: Outcome) -> bool:
    """Return True if an answer may still come."""
    return settled_outcome(outcome.ticket) is None


def answer_exit(outcome: Outcome) -> int:
    """Return the exit code for the state of a question."""
    if outcome.kind is OutcomeKind.REPLIED:
        return DONE
    return UNAVAILABLE if is_open(outcome) else REFUSED


def show_outcome(call: Call, outcome: Outcome, approval: Approval | None, lead: str) -> None:
    """Write the answer, or why there is none and how to wait on."""
    output = call.output
    if output.as_json:
        output.json(_document(call, outcome, approval))
    elif approval is not None and approval.answer is not None:
        output.text(f"{approval.state}: {one_line(approval.reason)}" if approval.reason else str(approval.state))
    elif outcome.answer is not None:
        output.text(outcome.answer.text)
        for line in extras(outcome.answer):
            output.note(f"With it came: {line}")
    elif is_open(outcome):
        show_resume_command(call, outcome.ticket.id, lead)
    else:
        output.note(f"{outcome.ticket.debtor} will not answer: {outcome.kind}{_because(outcome)}.")


def show_resume_command(call: Call, ticket: TicketId, lead: str) -> None:
    """Say that a question stays open, and show the command that waits on."""
    call.output.note(f"{lead}. The question stays open; wait on with:")
    call.output.note(_pasteable(resume_words(call, ticket)))


def _because(outcome: Outcome) -> str:
    return f", {outcome.reason}" if outcome.reason else ""


def _document(call: Call, outcome: Outcome, approval: Approval | None) -> dict[str, Json]:
    return {
        "outcome": str(outcome.kind),
        "reason": outcome.reason,
        "ticket": outcome.ticket.id,
        "text": outcome.text if outcome.answer else None,
        "answer": message_document(outcome.answer) if outcome.answer else None,
        "approval": approval_document(approval) if approval is not None else None,
        "debt": ticket_document(outcome.ticket),
        "resume": resume_words(call, outcome.ticket.id) if is_open(outcome) else None,
    }


def resume_words(call: Call, ticket: TicketId) -> list[str]:
    """Return the command that continues to wait for the same answer."""
    options = call.options
    given = (("--store", options.store), ("--as", options.sender or options.actor))
    said = [word for name, value in given if value for word in (name, value)]
    return ["covey", "ask", *said, "--ticket", ticket]


def _pasteable(words: list[str]) -> str:
    """Return a command that people can paste.

    It is on one line. If the terminal is too narrow, the last word goes to the next line.
    """
    *head, last = [shlex.quote(word) for word in words]
    line = "  " + " ".join([*head, last])
    is_narrow = sys.stderr.isatty() and len(line) > columns()
    return "  " + " ".join(head) + " \\\n    " + last if is_narrow else line
