"""Tasks as JSON documents."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.ledger.wire import encode_part
from covey.core.times import format_instant
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.tasks.story import Artifact, Step
from covey.surfaces.cli.views.events import event_document


def task_document(view: TaskView, number: int | None = None) -> dict[str, Json]:
    """Return a task: its text and its present state."""
    task, message = view
    return {
        "id": task.id,
        "number": number,
        "state": str(task.state),
        "reason": task.reason,
        "delegator": task.delegator,
        "delegator_session": task.delegator_session,
        "agent": task.agent,
        "scope": task.scope,
        "subject": message.subject,
        "text": message.text,
        "parts": [encode_part(part) for part in message.parts],
        "parent": task.parent,
        "callback": {"channel": message.callback.channel, "conversation": message.callback.session_id}
        if message.callback
        else None,
        "hops_left": message.hops_left,
        "trace": list(message.trace),
        "session": task.claimed_by,
        "attempt": task.attempt,
        "created_at": format_instant(task.created_at),
        "updated_at": format_instant(task.updated_at),
        "deadline": _instant(task.deadline),
        "abandoned_at": _instant(task.abandoned_at),
        "finished_at": _instant(task.finished_at),
        "progress": task.progress,
        "result": task.result,
    }


def step_document(step: Step) -> dict[str, Json]:
    """Return one step of a task's history: the event, and its text for people."""
    return {"what": step.word, "attempt": step.attempt, "text": step.text, **event_document(step.event)}


def artifact_document(artifact: Artifact) -> dict[str, Json]:
    """Return a file that came with a task."""
    name, digest, size, media_type, _ = artifact.part
    return {
        "with": artifact.origin,
        "message": artifact.message_id,
        "name": name,
        "size": size,
        "digest": digest,
        "media_type": media_type,
    }


def tree_document(tree: Sequence[TaskView]) -> dict[str, Json]:
    """Return the tasks of a tree, each with its subtasks. `tree` must have each task after its parent."""
    below: dict[MessageId, list[Json]] = {view.task.id: [] for view in tree}
    nodes: list[dict[str, Json]] = [{**task_document(view), "children": below[view.task.id]} for view in tree]
    for view, node in zip(tree, nodes, strict=True):
        if view.task.parent is not None and view.task.parent in below:
            below[view.task.parent].append(node)
    return nodes[0]


def _instant(at: datetime | None) -> str | None:
    return format_instant(at) if at else None
