"""The verbs that move a task: `accept`, `update` and `cancel`."""

from argparse import ArgumentParser
from typing import Final

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ledger.message import Part
from covey.core.names import MessageId
from covey.core.work.approval import Decision
from covey.core.work.task import Task, TaskState
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, REJECTED
from covey.surfaces.cli.options.names import add_actor
from covey.surfaces.cli.tasks.options import (
    ATTEMPT_VARIABLE,
    OWN_TASK_HELP,
    TASK_HELP,
    own_attempt,
    part_arguments,
    parts_of,
    task_name,
    task_number,
    task_of,
)
from covey.surfaces.cli.tasks.records import task_document
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.times import positive


def show_move(call: Call, task: Task, said: str = "") -> None:
    """Show the state of a task after a move."""
    if call.output.as_json:
        view = call.run(call.services.tasks.view(task.id))
        call.output.json(task_document(view, call.run(task_number(call.services, task))))
        return
    name = call.run(task_name(call.services, task))
    reason = f": {one_line(task.reason)}" if task.reason else ""
    call.output.text(f"{name}: {said}" if said else f"{name} is {task.state}{reason}.")


def decide_task(call: Call, task_id: MessageId, actor: Identity, decision: Decision) -> int:
    """Accept or reject a pending task."""
    duties = call.services.duties
    if decision.approve:
        task = call.run(duties.accept(task_id, actor))
        show_move(call, task)
        return REJECTED if task.state is TaskState.REJECTED else DONE
    if not decision.reason.strip():
        raise Invalid("--reason", decision.reason or None, "say why you reject it")
    show_move(call, call.run(duties.reject(task_id, actor, decision.reason.strip())))
    return DONE


def _accept_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=OWN_TASK_HELP)
    add_actor(parser, "the agent that accepts it")


def _run_accept(call: Call) -> int:
    task = task_of(call, call.options.id, call.options.sender).task
    task = call.run(call.services.duties.accept(task.id, call.actor(call.options.sender)))
    show_move(call, task)
    return REJECTED if task.state is TaskState.REJECTED else DONE


ACCEPT: Final = Verb(
    arguments=_accept_arguments,
    run=_run_accept,
    description="""\
Say yes to a task: whoever handed it over is told, and it takes a place of the agent's quota. With a session it is that
session's alone, until it ends. `covey reject ID --reason TEXT` says no.

Where the sender is not allowed, the quota has no room or the deadline has passed, the task is rejected instead, with
exit code 5. An agent whose tasks may queue keeps one over the quota waiting (`quota-full`).""",
    examples="""\
examples:
  covey accept coder:3 --as coder
  covey accept 3 --as coder && covey update 3 --as coder --start""",
)


def _update_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=OWN_TASK_HELP)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--start", action="store_true", help="the work has begun")
    how.add_argument("--progress", metavar="TEXT", help="how far it is; - reads stdin")
    how.add_argument("--complete", metavar="TEXT", nargs="?", const="", help="the result; - or nothing reads stdin")
    how.add_argument("--fail", metavar="WHY", help="why it can't be done, or what went wrong")
    part_arguments(parser)
    parser.add_argument(
        "--attempt",
        type=positive,
        metavar="N",
        help=f"refuse where others have taken it up since (default ${ATTEMPT_VARIABLE})",
    )
    add_actor(parser, "the agent that works on it")


def _run_update(call: Call) -> int:
    options = call.options
    task = task_of(call, options.id, options.sender).task
    task = _move(call, task.id, options.attempt or own_attempt(task))
    show_move(call, task, "the progress is told." if options.progress is not None else "")
    return DONE


UPDATE: Final = Verb(
    arguments=_update_arguments,
    run=_run_update,
    description="""\
Say how a task fares; whoever handed it over is told. An accepted task is started, then tells its progress, and is
completed with a result or has failed. Files and data go along. Within a program that `covey work` runs, no ID is
needed.""",
    examples="""\
examples:
  covey update coder:3 --as coder --start
  covey update coder:3 --as coder --progress "half of the tests pass"
  make test 2>&1 | covey update coder:3 --as coder --complete --file parser.py
  covey update --fail "there is no such file" """.rstrip(),
)


def _move(call: Call, task_id: MessageId, attempt: int | None) -> Task:
    options, duties = call.options, call.services.duties
    if options.start:
        if options.file or options.data is not None:
            raise Invalid("--start", None, "files and data go along with --progress, --complete or --fail")
        return call.run(duties.start(task_id, call.actor(options.sender), attempt))
    if options.fail is not None:
        reason = options.fail.strip()
        if not reason:
            raise Invalid("--fail", options.fail, "say why")
        has_more = options.file or options.data is not None
        parts: tuple[Part, ...] = parts_of(call, reason) if has_more else ()
        return call.run(duties.fail(task_id, call.actor(options.sender), reason, parts, attempt))
    if options.progress is not None:
        parts = parts_of(call, options.progress)
        return call.run(duties.progress(task_id, call.actor(options.sender), parts, attempt))
    parts = parts_of(call, options.complete or None)
    return call.run(duties.complete(task_id, call.actor(options.sender), parts, attempt))


def _cancel_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=TASK_HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help="what whoever works on it should know")
    add_actor(parser, "the agent that delegated it")


def _run_cancel(call: Call) -> int:
    task = task_of(call, call.options.id, call.options.sender).task
    actor = call.actor(call.options.sender)
    show_move(call, call.run(call.services.tasks.cancel(task.id, actor, call.options.reason)))
    return DONE


CANCEL: Final = Verb(
    arguments=_cancel_arguments,
    run=_run_cancel,
    description="""\
Take back a task that is not finished; only who handed it over can. It has failed then, and whoever works on it is told
to stop.""",
    examples="""\
examples:
  covey cancel coder:3 --as lead
  covey cancel coder:3 --as lead --reason "somebody else has done it" """.rstrip(),
)
