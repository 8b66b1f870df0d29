"""covey tasks."""

from argparse import ArgumentParser

from covey.core.names import AgentName, known_scope, parse_agent_name
from covey.ports.work import TaskFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.when import parse_span, positive
from covey.surfaces.cli.tasks.document import task_document
from covey.surfaces.cli.tasks.listing import show_tasks
from covey.surfaces.cli.tasks.naming import number_of

USUAL_LIMIT = 100
DESCRIPTION = """\
List the tasks that are not finished, oldest first. With --watch: a board on the terminal with what waits, what is at
work and what is finished, drawn anew as things happen; q or Ctrl-C ends it. Where nobody looks, a line for each task
and then one for each change."""
EXAMPLES = """\
examples:
  covey tasks
  covey tasks --agent coder --all --limit 20
  covey tasks --watch
  covey tasks --watch --json | jq -r 'select(.event) | .task.state'"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="AGENT", help="only those that this agent is to do")
    parser.add_argument("--from", dest="delegator", metavar="AGENT", help="only those that this agent handed over")
    parser.add_argument("--scope", help="only those of this scope")
    parser.add_argument("--all", action="store_true", help="also those that are finished")
    parser.add_argument("--watch", action="store_true", help="go on, and show what changes")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with --watch: end after 30s, 10m, 2h")
    parser.add_argument(
        "--limit", type=positive, default=USUAL_LIMIT, metavar="N", help=f"the newest N (default {USUAL_LIMIT})"
    )


def run(call: Call) -> int:
    options = call.options
    wanted = TaskFilter(
        agent=_agent(call, options.agent),
        delegator=parse_agent_name(options.delegator) if options.delegator else None,
        scope=known_scope(options.scope) if options.scope else None,
        is_finished=None if options.all else False,
    )
    if options.watch:
        from covey.surfaces.cli.tasks.watching import watch

        seconds = parse_span(options.span).total_seconds() if options.span else None
        return watch(call, wanted, options.limit, seconds)
    views = call.run(call.services.tasks.find(wanted, options.limit))
    if call.output.as_json:
        call.output.json([task_document(view, call.run(number_of(call.services, view.task))) for view in views])
        return DONE
    show_tasks(call, views, _nothing(wanted))
    if len(views) == options.limit:
        call.output.note(f"The newest {options.limit}; --limit shows more.")
    return DONE


def _agent(call: Call, given: str | None) -> AgentName | None:
    """Return a known agent, so that a mistyped name is reported as such."""
    return call.run(call.services.directory.agent(parse_agent_name(given))).name if given else None


def _nothing(wanted: TaskFilter) -> str:
    kind = "No task" if wanted.is_finished is None else "No task that is not finished"
    narrowed = any((wanted.agent, wanted.delegator, wanted.scope))
    hint = "" if wanted.is_finished is None else " `--all` shows those that are."
    return f"{kind}{' of that kind' if narrowed else ''}.{hint}"
