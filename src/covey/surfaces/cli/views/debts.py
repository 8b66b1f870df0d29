"""Debts and requested approvals, for people and programs."""

from collections.abc import Mapping, Sequence

from covey.core.errors import NotFound
from covey.core.json import Json
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import MessageId, TicketId
from covey.core.times import format_instant
from covey.core.work.approval import Approval, requested
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.times import age


def show_debts(
    call: Call,
    tickets: Sequence[Ticket],
    nothing: str,
    questions: Mapping[TicketId, Message | None] | None = None,
    *,
    is_full: bool = False,
) -> None:
    """Show debts as a table, or say that there are none. With `questions`, show their texts and requested approvals."""
    known = questions or {}
    now = call.services.clock.now()
    columns = ("debtor", "asker", "age", "state", "approval", "scope", "subject", "message", "text")
    call.output.table(
        columns if questions else columns[:-1],
        [
            (
                ticket.debtor,
                ticket.asker,
                age(ticket.opened_at, now),
                _state(ticket),
                _approval(known.get(ticket.id)) or "",
                ticket.scope or "",
                ticket.subject or "",
                ticket.message_id,
                _text(known.get(ticket.id)),
            )[: None if questions else -1]
            for ticket in tickets
        ],
        nothing,
        is_full=is_full,
    )


def _state(ticket: Ticket) -> str:
    """Return the state of a debt, with the reason for a delay."""
    if ticket.trouble is not None:
        return f"{ticket.state} ({ticket.trouble})"
    if ticket.awaits is not None:
        return f"{ticket.state} (asked back)"
    return f"{ticket.state}, not archived" if ticket.state is TicketState.ANSWERED else str(ticket.state)


def ticket_document(ticket: Ticket) -> dict[str, Json]:
    """Return a debt."""
    return {
        "ticket": ticket.id,
        "message": ticket.message_id,
        "thread": ticket.thread,
        "asker": ticket.asker,
        "asker_session": ticket.asker_session,
        "debtor": ticket.debtor,
        "state": str(ticket.state),
        "scope": ticket.scope,
        "subject": ticket.subject,
        "answer": ticket.answer,
        "trouble": str(ticket.trouble) if ticket.trouble else None,
        "awaits": ticket.awaits,
        "opened_at": format_instant(ticket.opened_at),
        "due_at": format_instant(ticket.due_at) if ticket.due_at else None,
        "closed_at": format_instant(ticket.closed_at) if ticket.closed_at else None,
        "close_reason": str(ticket.close_reason) if ticket.close_reason else None,
    }


def approval_document(approval: Approval) -> dict[str, Json]:
    """Return an approval as a JSON document."""
    return {"decision": str(approval.state), "reason": approval.reason}


def question_of(call: Call, message_id: MessageId) -> Message | None:
    """Return the message of a question, or None if it can't be read."""
    try:
        return call.run(call.services.mail.message(message_id))
    except NotFound:
        return None


def question_document(question: Message | None) -> dict[str, Json]:
    """Return the text of a question, and the label of the approval that it asks for."""
    return {"text": question.text if question else None, "approval": _approval(question)}


def _approval(question: Message | None) -> str | None:
    request = requested(question) if question else None
    return request.label if request else None


def _text(question: Message | None) -> str:
    return question.text if question else ""
