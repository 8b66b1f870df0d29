"""The verbs `sessions` and `stop`: sessions and their children, shown once or live, and stopped."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName, parse_agent_name
from covey.core.work.run import Run
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.children.runs import SESSION_HELP, child_name, run_document, run_of
from covey.surfaces.cli.children.tree import NOTHING, SessionNode, forest, tree_document, tree_lines
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from covey.surfaces.cli.options.names import add_actor
from covey.surfaces.cli.terminal.layout import Branch, show_event_line
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.times import parse_span


def _sessions_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="only the trees in which this agent has a part")
    parser.add_argument("--all", action="store_true", help="also children that have ended")
    parser.add_argument("--watch", action="store_true", help="go on as it changes, until q or Ctrl-C")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with --watch: end after 90s, 10m, 2h")


def _run_sessions(call: Call) -> int:
    options = call.options
    agent = parse_agent_name(options.agent) if options.agent else None
    if agent is not None:
        call.run(call.services.directory.agent(agent))
    if options.span and not options.watch:
        raise Invalid("--for", options.span, "it is for --watch")
    if options.watch:
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


SESSIONS: Final = Verb(
    arguments=_sessions_arguments,
    run=_run_sessions,
    description="""\
Show the live sessions as a tree: each with its children below it, how it stands, for how long, the beginning of its
run's id, and what it does; below that its key. The label, the run's id and the key name it for `covey say` and `covey
stop`. With --all also children that have ended, and how.""",
    examples="""\
examples:
  covey sessions
  covey sessions --agent coder --all
  covey sessions --watch""",
)


def _styles(call: Call) -> dict[str, str]:
    if not call.output.is_for_a_person:
        return {}
    from covey.surfaces.cli.terminal.screen import STYLES  # imported late because it loads rich

    return dict(STYLES)


_HINT: Final = "q ends it · covey say NAME TEXT · covey stop NAME"

_CHANGES: Final = frozenset(
    {Action.SESSION_JOINED, Action.SESSION_ENDED, Action.SESSION_ACTIVITY, Action.RUN_MOVED, Action.RUN_STOPPING}
)


class SessionSelection:
    """A selection of sessions to show."""

    def __init__(self, services: Services, agent: AgentName | None, with_ended: bool) -> None:
        self._services = services
        self._agent = agent
        self._with_ended = with_ended

    async def look(self) -> Sequence[Branch[SessionNode]]:
        return await forest(self._services, self._agent, with_ended=self._with_ended)


def watch(call: Call, agent: AgentName | None, *, with_ended: bool, seconds: float | None) -> int:
    """Show the tree and follow its changes, until the user ends it or that many seconds have passed."""
    from covey.surfaces.cli.live import run_live  # imported late because it loads an event loop

    is_page = call.output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
    show = _watch_page if is_page else _watch_lines
    run_live(call, lambda services: show(services, call.output, SessionSelection(services, agent, with_ended), seconds))
    return DONE


async def _watch_lines(services: Services, output: Output, wanted: SessionSelection, seconds: float | None) -> None:
    from covey.surfaces.cli.live import follow  # imported late because it loads an event loop

    after = await services.history.last()  # read before the look, so that no change between the two is missed
    await _write(services, output, wanted)

    async def show(events: Sequence[Event]) -> bool:
        changes = [event for event in events if event.action in _CHANGES]
        if changes and output.as_json:
            await _write(services, output, wanted)
        for event in () if output.as_json else changes:
            show_event_line(output, event.at, str(event.action), _told(event))
        output.flush()
        return True

    await follow(services, after, show, EventFilter(), seconds)


async def _write(services: Services, output: Output, wanted: SessionSelection) -> None:
    trees = await wanted.look()
    if output.as_json:
        output.json(tree_document(trees))
    else:
        for line in tree_lines(trees, services.clock.now(), output.width, {}):
            output.pieces(*line)
    output.flush()


def _told(event: Event) -> str:
    details = event.details
    said = [str(event.agent or event.actor.agent)]
    said += [str(details[name]) for name in ("key", "run", "state", "to", "activity", "reason") if details.get(name)]
    return "  ".join(said)


async def _watch_page(services: Services, output: Output, wanted: SessionSelection, seconds: float | None) -> None:
    from covey.surfaces.cli.live_page import live_page  # imported late because it loads rich
    from covey.surfaces.cli.terminal.screen import Canvas

    trees: Sequence[Branch[SessionNode]] = ()

    async def look() -> None:
        nonlocal trees
        trees = await wanted.look()

    def paint(canvas: Canvas) -> None:
        width, _ = canvas.room
        lines = tree_lines(trees, services.clock.now(), width, canvas.styles)
        canvas.draw(lines or [[(NOTHING, "dim")]], _HINT)

    await live_page(services, output, look, paint, lambda event: event.action in _CHANGES, seconds)


USUAL_WAIT = "15s"


def _stop_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("names", metavar="CHILD", nargs="+", help=SESSION_HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help="why; who started it reads it")
    add_actor(parser, "the agent that stops it")
    parser.add_argument("--wait", metavar="SPAN", default=USUAL_WAIT, help=f"for its end (default {USUAL_WAIT})")


def _run_stop(call: Call) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    # All names are resolved before the first child is stopped, so that a wrong name stops nothing.
    runs = [call.run(run_of(call.services, name)) for name in call.options.names]
    return max(_stop(call, found, seconds) for found in runs)


STOP: Final = Verb(
    arguments=_stop_arguments,
    run=_run_stop,
    description="""\
Stop children, wherever they run: the program of each is told to terminate, then killed with all that it started. What
it printed until then is its result. The agent that started a child, the child's own and the operator may; where nothing
says who acts, it is done in the name of who started it.

exit codes:
  0    it has ended, by this or before
  4    it was told to stop, and has not ended yet""",
    examples="""\
examples:
  covey stop fixer
  covey stop 3f2b81c0 --reason "no longer needed"
  covey stop agent:coder:subagent:7f3c0f6e-6a53-4f5c-9f1a-0d2f6a7c9b11""",
)


def _stop(call: Call, found: Run, seconds: float) -> int:
    from covey.surfaces.cli.live import run_live  # imported late because it loads an event loop

    had_ended, reason, actor = found.has_ended, call.options.reason, _actor(call, found)
    if not had_ended:
        found = run_live(call, lambda services: services.spawning.stop(found.id, actor, reason, seconds))
    if call.output.as_json:
        call.output.json(run_document(found))
    elif had_ended:
        call.output.text(f"The child {child_name(found)} had ended already: {found.state}.")
    elif found.has_ended:
        call.output.text(f"The child {child_name(found)} has ended: {found.state}.")
    else:
        call.output.text(f"The child {child_name(found)} was told to stop, and has not ended yet.")
    return DONE if found.has_ended else UNAVAILABLE


def _actor(call: Call, found: Run) -> Identity:
    if call.options.sender is None and not call.is_identified:
        return call.services.identities.claim(found.parent_agent)
    return call.actor(call.options.sender)
