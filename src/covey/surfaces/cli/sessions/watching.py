"""Watching sessions: a live tree for a person at a terminal, lines for programs. Both follow the journal."""

import os
from collections.abc import Sequence
from typing import Final

from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.living import live_page
from covey.surfaces.cli.sessions.forest import Node, forest
from covey.surfaces.cli.sessions.tree import NOTHING, tree_document, tree_lines
from covey.surfaces.cli.terminal.branches import Branch
from covey.surfaces.cli.terminal.canvas import Canvas
from covey.surfaces.cli.terminal.moments import show_moment
from covey.surfaces.cli.terminal.output import Output

HINT: Final = "q ends it · covey say NAME TEXT · covey stop NAME"

CHANGES: Final = frozenset(
    {Action.SESSION_JOINED, Action.SESSION_ENDED, Action.SESSION_ACTIVITY, Action.RUN_MOVED, Action.RUN_STOPPING}
)


class Wanted:
    """A selection of sessions to show."""

    def __init__(self, services: Services, agent: AgentName | None, with_ended: bool) -> None:
        self._services = services
        self._agent = agent
        self._with_ended = with_ended

    async def look(self) -> Sequence[Branch[Node]]:
        return await forest(self._services, self._agent, with_ended=self._with_ended)


def watch(call: Call, agent: AgentName | None, *, with_ended: bool, seconds: float | None) -> int:
    """Show the tree and follow its changes, until the user ends it or that many seconds have passed."""
    is_page = call.output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
    show = _watch_page if is_page else _watch_lines
    run_live(call, lambda services: show(services, call.output, Wanted(services, agent, with_ended), seconds))
    return DONE


async def _watch_lines(services: Services, output: Output, wanted: Wanted, seconds: float | None) -> None:
    after = await services.history.last()  # read before the look, so that no change between the two is missed
    await _write(services, output, wanted)

    async def show(events: Sequence[Event]) -> bool:
        changes = [event for event in events if event.action in CHANGES]
        if changes and output.as_json:
            await _write(services, output, wanted)
        for event in () if output.as_json else changes:
            show_moment(output, event.at, str(event.action), _told(event))
        output.flush()
        return True

    await follow(services, after, show, EventFilter(), seconds)


async def _write(services: Services, output: Output, wanted: Wanted) -> None:
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


async def _watch_page(services: Services, output: Output, wanted: Wanted, seconds: float | None) -> None:
    trees: Sequence[Branch[Node]] = ()

    async def look() -> None:
        nonlocal trees
        trees = await wanted.look()

    def paint(canvas: Canvas) -> None:
        width, _ = canvas.room
        lines = tree_lines(trees, services.clock.now(), width, canvas.styles)
        canvas.draw(lines or [[(NOTHING, "dim")]], HINT)

    await live_page(services, output, look, paint, lambda event: event.action in CHANGES, seconds)
