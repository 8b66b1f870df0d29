"""An agent as programs get it with --json."""

from covey.core.card import encode_card
from covey.core.json import Json
from covey.core.times import format_instant
from covey.services.directory import AgentView
from covey.surfaces.cli.pausing import pause_document


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
