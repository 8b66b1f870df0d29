"""A debt as programs get it with --json."""

from covey.core.json import Json
from covey.core.ticket import Ticket
from covey.core.times import format_instant


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
