"""covey update."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.ids import MessageId
from covey.core.ledger.message import Part
from covey.core.work.task import Task
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.when import positive
from covey.surfaces.cli.tasks.moving import show_move
from covey.surfaces.cli.tasks.naming import ATTEMPT_VARIABLE, HELP_OR_OWN, own_attempt, task_of
from covey.surfaces.cli.tasks.parts import part_arguments, parts_of

DESCRIPTION = """\
Say how a task fares; whoever handed it over is told. An accepted task is started, then tells its progress, and is
completed with a result or has failed. Files and data go along. Within a program that `covey work` runs, no ID is
needed."""
EXAMPLES = """\
examples:
  covey update coder:3 --as coder --start
  covey update coder:3 --as coder --progress "half of the tests pass"
  make test 2>&1 | covey update coder:3 --as coder --complete --file parser.py
  covey update --fail "there is no such file" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=HELP_OR_OWN)
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
    parser.add_argument("--as", dest="sender", metavar="AGENT", help="who works on it; only claimed")


def run(call: Call) -> int:
    options = call.options
    task = task_of(call, options.id, options.sender).task
    task = _move(call, task.id, options.attempt or own_attempt(task))
    show_move(call, task, "the progress is told." if options.progress is not None else "")
    return DONE


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
