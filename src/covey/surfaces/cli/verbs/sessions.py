"""covey sessions."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.names import parse_agent_name
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.when import parse_span
from covey.surfaces.cli.sessions.forest import forest
from covey.surfaces.cli.sessions.tree import NOTHING, tree_document, tree_lines

DESCRIPTION = """\
Show the live sessions as a tree: each with its children below it, how it stands, for how long, the beginning of its
run's id, and what it does; below that its key. The label, the run's id and the key name it for `covey say` and `covey
stop`. With --all also children that have ended, and how."""
EXAMPLES = """\
examples:
  covey sessions
  covey sessions --agent coder --all
  covey sessions --watch"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="only the trees in which this agent has a part")
    parser.add_argument("--all", action="store_true", help="also children that have ended")
    parser.add_argument("--watch", action="store_true", help="go on as it changes, until q or Ctrl-C")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with --watch: end after 90s, 10m, 2h")


def run(call: Call) -> int:
    options = call.options
    agent = parse_agent_name(options.agent) if options.agent else None
    if agent is not None:
        call.run(call.services.directory.agent(agent))
    if options.span and not options.watch:
        raise Invalid("--for", options.span, "it is for --watch")
    if options.watch:
        from covey.surfaces.cli.sessions.watching import watch

        seconds = parse_span(options.span).total_seconds() if options.span else None
        return watch(call, agent, with_ended=options.all, seconds=seconds)
    trees = call.run(forest(call.services, agent, with_ended=options.all))
    if call.output.as_json:
        call.output.json(tree_document(trees))
        return DONE
    styles = _styles(call)
    for line in tree_lines(trees, call.services.clock.now(), call.output.width, styles):
        call.output.pieces(*line)
    if not trees:
        call.output.text(NOTHING)
    return DONE


def _styles(call: Call) -> dict[str, str]:
    if not call.output.is_for_a_person:
        return {}
    from covey.surfaces.cli.terminal.screen import STYLES  # imported late because it loads rich

    return dict(STYLES)
