"""Runs and sessions as JSON documents."""

from datetime import datetime

from covey.core.directory.session import Session
from covey.core.json import Json
from covey.core.ledger.wire import encode_part
from covey.core.times import format_instant
from covey.core.work.run import Run
from covey.services.children.spawning import RunResult
from covey.surfaces.cli.views.documents import message_document


def run_document(run: Run) -> dict[str, Json]:
    """Return a run: its owner, its state and its address."""
    return {
        "run": run.id,
        "key": str(run.key),
        "session": run.session,
        "agent": run.agent,
        "label": run.label,
        "parent_agent": run.parent_agent,
        "parent": run.parent,
        "sibling_of": run.sibling_of,
        "description": run.description,
        "mode": str(run.mode),
        "launcher": str(run.launcher),
        "state": str(run.state),
        "stage": str(run.stage),
        "stop_reason": run.stop_reason,
        "reason": run.reason,
        "request": run.request,
        "ticket": run.ticket,
        "time_limit": run.time_limit,
        "thread": {"channel": run.thread.channel, "session_id": run.thread.session_id} if run.thread else None,
        "started_at": format_instant(run.started_at),
        "ended_at": _instant(run.ended_at),
    }


def result_document(run: Run, result: RunResult | None) -> dict[str, Json]:
    """Return the result of a run. `status` is the run's state if there is no result yet."""
    return {
        "status": str(run.state if result is None else result.status),
        "text": None if result is None else result.text,
        "data": None if result is None else result.data,
        "files": [] if result is None else [encode_part(part) for part in result.files],
        "answer": None if result is None or result.message is None else message_document(result.message),
        "run": run_document(run),
    }


def session_document(session: Session, about: str) -> dict[str, Json]:
    """Return a live session, with its work."""
    return {
        "key": str(session.key),
        "session": session.id,
        "agent": session.agent,
        "label": session.label,
        "kind": str(session.kind),
        "activity": str(session.activity),
        "status": session.status,
        "capacity": {"limit": session.capacity.limit, "overflow": str(session.capacity.overflow)},
        "lease": session.lease.total_seconds(),
        "joined_at": format_instant(session.joined_at),
        "seen_at": format_instant(session.seen_at),
        "hooked_at": _instant(session.hooked_at),
        "about": about,
    }


def _instant(at: datetime | None) -> str | None:
    return None if at is None else format_instant(at)
