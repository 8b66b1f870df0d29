"""Debts and agents as JSON documents."""

from covey.core.directory.card import encode_card
from covey.core.json import Json
from covey.core.ledger.ticket import Ticket
from covey.core.times import format_instant
from covey.services.directory.directory import AgentView
from covey.surfaces.cli.views.pausing import pause_document


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


def agent_document(view: AgentView) -> dict[str, Json]:
    """Return an agent as others see it now."""
    return {
        "agent": view.name,
        "presence": str(view.presence),
        "status": view.status,
        "sessions": [{"id": s.id, "key": str(s.key), "label": s.label} for s in view.sessions],
        "current_tasks": list(view.current_tasks),
        "registered_at": format_instant(view.registered_at),
        "paused": pause_document(view.pause) if view.pause else None,
        "last_seen_at": format_instant(view.last_seen_at) if view.last_seen_at else None,
        **encode_card(view.card),
    }
