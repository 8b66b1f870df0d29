"""Records as programs get them with --json: one shape for each, everywhere."""

from covey.core.card import encode_card
from covey.core.delivery import Delivery
from covey.core.json import Json
from covey.core.message import Message
from covey.core.ticket import Ticket
from covey.core.times import format_instant
from covey.core.wire import encode_part
from covey.services.directory import AgentView


def message_document(message: Message) -> dict[str, Json]:
    """Return a message: the fields of its wire form, flat, with its text."""
    return {
        "id": message.id,
        "kind": str(message.kind),
        "from": message.sender.agent,
        "from_session": message.sender.session,
        "grade": str(message.sender.grade),
        "to": [address.value for address in message.to],
        "subject": message.subject,
        "scope": message.scope,
        "round": message.round,
        "text": message.text,
        "parts": [encode_part(part) for part in message.parts],
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "thread": message.thread,
        "created_at": format_instant(message.created_at),
        "expires_at": format_instant(message.expires_at) if message.expires_at else None,
        "metadata": message.metadata,
    }


def delivery_document(delivery: Delivery) -> dict[str, Json]:
    """Return a delivery: where it is, how far it got, on what evidence."""
    return {
        "delivery": delivery.id,
        "agent": delivery.agent,
        "session": delivery.session,
        "parked": delivery.is_parked,
        "number": delivery.number,
        "state": str(delivery.state),
        "evidence": str(delivery.grade) if delivery.grade else None,
        "reason": delivery.reason,
        "offer": delivery.offer,
        "archived_at": format_instant(delivery.archived_at) if delivery.archived_at else None,
        "updated_at": format_instant(delivery.updated_at),
    }


def ticket_document(ticket: Ticket) -> dict[str, Json]:
    """Return a debt."""
    return {
        "ticket": ticket.id,
        "message": ticket.message_id,
        "asker": ticket.asker,
        "debtor": ticket.debtor,
        "state": str(ticket.state),
        "scope": ticket.scope,
        "subject": ticket.subject,
        "answer": ticket.answer,
        "trouble": str(ticket.trouble) if ticket.trouble else None,
        "awaits": ticket.awaits,
        "opened_at": format_instant(ticket.opened_at),
        "due_at": format_instant(ticket.due_at) if ticket.due_at else None,
    }


def agent_document(view: AgentView) -> dict[str, Json]:
    """Return an agent as others see it now."""
    return {
        "agent": view.name,
        "presence": str(view.presence),
        "status": view.status,
        "sessions": [{"id": s.id, "key": str(s.key), "label": s.label} for s in view.sessions],
        "registered_at": format_instant(view.registered_at),
        "last_seen_at": format_instant(view.last_seen_at) if view.last_seen_at else None,
        **encode_card(view.card),
    }
