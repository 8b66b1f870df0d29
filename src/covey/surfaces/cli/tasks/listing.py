"""The verb `tasks`: the tasks as a table, or as a live board."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from covey.core.names import AgentName, known_scope, parse_agent_name
from covey.core.work.task import Task
from covey.ports.work import TaskFilter
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.tasks.options import task_number
from covey.surfaces.cli.tasks.records import due, task_document, what
from covey.surfaces.cli.times import age, parse_span, positive


def _tasks_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="only tasks for this agent; by default all tasks")
    parser.add_argument("--agent", metavar="AGENT", help="the same as AGENT")
    parser.add_argument("--from", dest="delegator", metavar="AGENT", help="only tasks that this agent delegated")
    parser.add_argument("--scope", help="only tasks of this scope")
    parser.add_argument("--all", action="store_true", help="also finished tasks")
    parser.add_argument("--watch", action="store_true", help="stay, and show the changes")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with --watch: end after 30s, 10m, 2h")
    parser.add_argument(
        "--limit", type=positive, default=USUAL_LIMIT, metavar="N", help=f"the newest N (default {USUAL_LIMIT})"
    )


def _run_tasks(call: Call) -> int:
    options = call.options
    wanted = TaskFilter(
        agent=_agent(call, options.name or options.agent),
        delegator=parse_agent_name(options.delegator) if options.delegator else None,
        scope=known_scope(options.scope) if options.scope else None,
        is_finished=None if options.all else False,
    )
    if options.watch:
        from covey.surfaces.cli.tasks.board import watch

        seconds = parse_span(options.span).total_seconds() if options.span else None
        return watch(call, wanted, options.limit, seconds)
    views = call.run(call.services.tasks.find(wanted, options.limit))
    if call.output.as_json:
        call.output.json([task_document(view, call.run(task_number(call.services, view.task))) for view in views])
        return DONE
    show_tasks(call, views, _nothing(wanted))
    if len(views) == options.limit:
        call.output.note(f"The newest {options.limit}; --limit shows more.")
    return DONE


TASKS: Final = Verb(
    arguments=_tasks_arguments,
    run=_run_tasks,
    description="""\
List the unfinished tasks of all agents, or of one agent, oldest first. With --watch: a board on the terminal with the
pending, active and finished tasks, redrawn after each change; q or Ctrl-C ends it. Without a terminal, write a line for
each task, and then a line for each change.""",
    examples="""\
examples:
  covey tasks
  covey tasks coder --all --limit 20
  covey tasks --watch
  covey tasks --watch --json | jq -r 'select(.event) | .task.state'""",
)


def show_tasks(call: Call, views: Sequence[TaskView], nothing: str) -> None:
    """Show tasks as a table, or say that there are none."""
    now = call.services.clock.now()
    call.output.table(
        ("task", "state", "from", "age", "due", "what", "id"),
        [
            (
                _name(call, view.task),
                str(view.task.state),
                view.task.delegator,
                age(view.task.created_at, now),
                due(view.task, now),
                what(view),
                view.task.id,
            )
            for view in views
        ],
        nothing,
    )


def _name(call: Call, task: Task) -> str:
    """Return the short name of a task, or its agent if it has no number. The table shows the id as well."""
    number = call.run(task_number(call.services, task))
    return f"{task.agent}:{number}" if number else task.agent


USUAL_LIMIT = 100


def _agent(call: Call, given: str | None) -> AgentName | None:
    """Return a known agent, so that a mistyped name is reported as such."""
    return call.run(call.services.directory.agent(parse_agent_name(given))).name if given else None


def _nothing(wanted: TaskFilter) -> str:
    kind = "No task" if wanted.is_finished is None else "No task that is not finished"
    narrowed = any((wanted.agent, wanted.delegator, wanted.scope))
    hint = "" if wanted.is_finished is None else " `--all` shows those that are."
    return f"{kind}{' of that kind' if narrowed else ''}.{hint}"
