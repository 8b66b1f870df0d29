"""The verb `task`: the page of one task."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.core.ledger.message import Message
from covey.core.names import MessageId
from covey.core.work.task import Task, TaskState
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.tasks.options import OWN_TASK_HELP, task_name, task_number, task_of
from covey.surfaces.cli.tasks.outcome import EXIT_HELP, show_outcome, task_exit
from covey.surfaces.cli.tasks.records import (
    Artifact,
    TaskStep,
    artifact_document,
    artifacts,
    due,
    find_message,
    history,
    is_shown,
    step_document,
    task_document,
    title,
    tree_document,
    who,
)
from covey.surfaces.cli.terminal.layout import laid_out
from covey.surfaces.cli.times import age, parse_span
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.events import day_and_time
from covey.surfaces.cli.views.messages import extras, headline


def _task_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=OWN_TASK_HELP)
    parser.add_argument("--wait", metavar="SPAN", help="wait until it is finished, for 30s, 10m, 2h")
    parser.add_argument("--save", metavar="PATH", help="write its files to this folder")
    parser.add_argument("--replace", action="store_true", help="with --save: write over files that are there")


def _run_task(call: Call) -> int:
    view = task_of(call, call.options.id)
    if call.options.wait is not None:
        return _wait(call, view)
    services = call.services
    steps = call.run(history(services, view.task.id))
    files = call.run(artifacts(services, view, steps))
    tree = call.run(services.tasks.tree(view.task.id))
    if call.options.save is not None:
        from covey.surfaces.cli.files import save_files

        parts = [file.part for file in files]
        saved: Sequence[str] = [
            str(path) for path in save_files(call, parts, call.options.save, replaces=call.options.replace)
        ]
    else:
        saved = ()
    if call.output.as_json:
        progress, result = (
            call.run(find_message(services, update)) for update in (view.task.progress, view.task.result)
        )
        call.output.json(
            {
                **task_document(view, call.run(task_number(services, view.task))),
                "progress": message_document(progress) if progress else None,
                "result": message_document(result) if result else None,
                "artifacts": [artifact_document(file) for file in files],
                "saved": list(saved),
                "history": [step_document(step) for step in steps],
                "tree": tree_document(tree),
            }
        )
    else:
        show_page(call, view, steps, files, tree, saved)
    return DONE


TASK: Final = Verb(
    arguments=_task_arguments,
    run=_run_task,
    description=f"""\
Show a task: what is to be done, every move with who made it, how far it is, its result, its files, and the tasks that
it is a part of or that were handed on from it. Looking changes nothing. --save writes the files to a folder.

With --wait the command waits for the end of the task, and then writes what `covey delegate` would: the result alone.
Whoever handed it over and waits here has then been told: its updates leave the inbox.

With --wait, {EXIT_HELP}""",
    examples="""\
examples:
  covey task coder:3
  covey task coder:3 --save results
  covey task coder:3 --wait 10m --as lead""",
)


def _wait(call: Call, view: TaskView) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    actor = call.actor() if call.is_identified else None
    try:
        from covey.surfaces.cli.live import run_live
        from covey.surfaces.cli.tasks.outcome import await_task

        task_id = view.task.id
        view = run_live(call, lambda services: await_task(services, call.output, task_id, actor, seconds))
    except KeyboardInterrupt:
        call.output.status("")  # also removes the key that the terminal echoes
        show_outcome(call, view, "Interrupted")
        return INTERRUPTED
    show_outcome(call, view, f"{view.task.agent} has not finished it yet: it is {view.task.state}")
    return task_exit(view)


def show_page(
    call: Call,
    view: TaskView,
    steps: Sequence[TaskStep],
    files: Sequence[Artifact],
    tree: Sequence[TaskView],
    saved: Sequence[str],
) -> None:
    """Show the task, its state, updates, files, history and tree."""
    output, task = call.output, view.task
    now = call.services.clock.now()
    name = call.run(task_name(call.services, task))
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
        [(day_and_time(s.at), str(s.actor), s.word, str(s.attempt or ""), s.text) for s in steps if is_shown(s)],
        "The journal does not know it any more.",
    )
    if len(tree) > 1:
        output.text()
        show_tree(call, tree, task.id)


def show_tree(call: Call, tree: Sequence[TaskView], here: MessageId) -> None:
    """Show the delegations of a tree, with the requested task in bold."""
    for view, lead, margin in laid_out(tree, lambda v: v.task.id, lambda v: v.task.parent):
        task = view.task
        name = call.run(task_name(call.services, task))
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
    message = call.run(find_message(call.services, update))
    if message is not None:
        call.output.text()
        call.output.pieces((word, "bold"), (f", {age(message.created_at, now)} ago", "dim"))
        _show_parts(call, message)


def _show_parts(call: Call, message: Message) -> None:
    for line in (*message.text.splitlines(), *extras(message)):
        call.output.pieces((line, ""), lead="  ", margin="  ")
