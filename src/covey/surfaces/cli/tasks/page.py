"""The page of a task: all its details, for a person."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.ids import MessageId
from covey.core.ledger.message import Message
from covey.core.work.task import Task, TaskState
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.tasks.listing import due, title, who
from covey.surfaces.cli.tasks.naming import name_of
from covey.surfaces.cli.tasks.story import Artifact, Step, is_told, said
from covey.surfaces.cli.terminal.branches import laid_out
from covey.surfaces.cli.views.events import day_and_time
from covey.surfaces.cli.views.headline import extras, headline


def show_page(
    call: Call,
    view: TaskView,
    steps: Sequence[Step],
    files: Sequence[Artifact],
    tree: Sequence[TaskView],
    saved: Sequence[str],
) -> None:
    """Show the task, its state, updates, files, history and tree."""
    output, task = call.output, view.task
    now = call.services.clock.now()
    name = call.run(name_of(call.services, task))
    output.pieces(*headline(view.message, now), margin="  ")
    output.pieces((f"{name}  " if name != task.id else "", "bold"), (task.id, "dim"))
    output.pieces((str(task.state), output.style(task.state)), (_standing(task, now), ""), margin="  ")
    output.text()
    _show_parts(call, view.message)
    _show_update(call, "Progress", task.progress, now)
    if task.state is TaskState.COMPLETED or any(file.message_id == task.result for file in files):
        _show_update(call, "Result", task.result, now)
    if files:
        output.text()
        output.table(("file", "bytes", "with"), [(f.part.name, f"{f.part.size:,}", f.origin) for f in files], "")
        if not saved:
            output.note(f"`covey task {name} --save FOLDER` writes them there.")
    for path in saved:
        output.text(f"saved {path}")
    output.text()
    output.table(
        ("at", "who", "what", "try", "note"),
        [(day_and_time(s.at), str(s.actor), s.word, str(s.attempt or ""), s.text) for s in steps if is_told(s)],
        "The journal does not know it any more.",
    )
    if len(tree) > 1:
        output.text()
        show_tree(call, tree, task.id)


def show_tree(call: Call, tree: Sequence[TaskView], here: MessageId) -> None:
    """Show the delegations of a tree, with the requested task in bold."""
    for view, lead, margin in laid_out(tree, lambda v: v.task.id, lambda v: v.task.parent):
        task = view.task
        name = call.run(name_of(call.services, task))
        call.output.pieces(
            (who(task), "bold" if task.id == here else ""),
            (f"  {task.state}", call.output.style(task.state)),
            (f"  {name}" if name != task.id else "", "dim"),
            (f"  {title(view.message)}", ""),
            lead=lead,
            margin=margin,
        )


def _standing(task: Task, now: datetime) -> str:
    """Return the time in the present state, with reason, attempt and deadline."""
    said = [f" {age(task.finished_at, now)} ago" if task.finished_at else f" for {age(task.updated_at, now)}"]
    if task.reason:
        said.append(f"reason: {task.reason}")
    if task.attempt > 1:
        said.append(f"attempt {task.attempt}")
    if task.abandoned_at is not None:
        said.append("nobody works on it: the session that had it has ended")
    if left := due(task, now):
        said.append(f"due in {left}")
    return ", ".join(said)


def _show_update(call: Call, word: str, update: MessageId | None, now: datetime) -> None:
    message = call.run(said(call.services, update))
    if message is not None:
        call.output.text()
        call.output.pieces((word, "bold"), (f", {age(message.created_at, now)} ago", "dim"))
        _show_parts(call, message)


def _show_parts(call: Call, message: Message) -> None:
    for line in (*message.text.splitlines(), *extras(message)):
        call.output.pieces((line, ""), lead="  ", margin="  ")
