"""The verb `status`: the whole space on one screen, once or live."""

import os
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.event import Event
from covey.core.ledger.waits import circles
from covey.core.storms.budget import Tree
from covey.core.storms.flow import StormStop
from covey.core.times import format_instant
from covey.core.work.task import Task
from covey.ports.ledger import EventFilter
from covey.services.care.status import AgentStatus
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.children.runs import run_document
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.ledger.waits import wait_document
from covey.surfaces.cli.space.agents import agent_document, pause_document
from covey.surfaces.cli.space.status_screen import (
    MOST_ROWS,
    SpaceScreen,
    StatusReader,
    by_urgency,
    is_overdue,
    screen_lines,
    stopped_at,
    stopped_subject,
)
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.times import parse_span
from covey.surfaces.cli.views.debts import ticket_document


def _status_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--watch", action="store_true", help="keep the screen current, until q or Ctrl-C")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with --watch: end after 30s, 10m, 2h")


def _run_status(call: Call) -> int:
    options = call.options
    if options.span and not options.watch:
        raise Invalid("--for", options.span, "it is for --watch")
    if options.watch:
        from covey.surfaces.cli.live import run_live  # imported late because it loads an event loop

        seconds = parse_span(options.span).total_seconds() if options.span else None
        is_page = call.output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
        watch = _watch_page if is_page else _watch_lines
        store = str(call.url)
        run_live(call, lambda services: watch(services, call.output, StatusReader(services, store), seconds))
        return DONE
    screen = call.run(StatusReader(call.services, str(call.url)).read(None if call.output.as_json else MOST_ROWS))
    _write(call.output, screen, call.services.clock.now())
    return DONE


STATUS: Final = Verb(
    arguments=_status_arguments,
    run=_run_status,
    description="""\
Show the whole space on one screen: each agent with its presence, its unseen mail and the age of the oldest, the answers
that it owes and its current work; unanswered questions, the overdue ones first; unfinished tasks; running children;
agents that wait for others; stopped exchanges. Mail is unseen until there is evidence that a model had it in its
context. Nothing is changed.

With --watch the screen is redrawn after each change; q or Ctrl-C ends it. Without a terminal, the status is written
again after each change, with --json as one line. A session whose process was killed is shown as ended after the next
change of the space. `covey top` opens threads by a key.""",
    examples="""\
examples:
  covey status
  covey status --watch --for 10m
  covey status --json | jq '.agents[] | select(.overdue > 0) | .agent'""",
)


def _write(output: Output, screen: SpaceScreen, now: datetime) -> None:
    if output.as_json:
        output.json({"at": format_instant(screen.status.at), **status_document(screen)})
        return
    styles: dict[str, str] = {}
    if output.is_for_a_person:
        from covey.surfaces.cli.terminal.screen import STYLES  # imported late because it loads rich

        styles = dict(STYLES)
    for line in screen_lines(screen, now, (output.width, None), styles):
        output.pieces(*line)


HINT: Final = "q ends it · covey top opens threads"


async def _watch_page(services: Services, output: Output, reader: StatusReader, seconds: float | None) -> None:
    from covey.surfaces.cli.live_page import live_page  # imported late because it loads rich
    from covey.surfaces.cli.terminal.screen import Canvas

    screen: SpaceScreen | None = None

    async def look() -> None:
        nonlocal screen
        screen = await reader.read(MOST_ROWS)

    def paint(canvas: Canvas) -> None:
        if screen is not None:
            canvas.draw(screen_lines(screen, services.clock.now(), canvas.room, canvas.styles), HINT)

    await live_page(services, output, look, paint, lambda _: True, seconds)


async def _watch_lines(services: Services, output: Output, reader: StatusReader, seconds: float | None) -> None:
    """Write the status, and again after each event that changes it."""
    from covey.surfaces.cli.live import follow  # imported late because it loads an event loop

    shown: dict[str, Json] | None = None

    async def look() -> None:
        nonlocal shown
        screen = await reader.read(None if output.as_json else MOST_ROWS)
        document = status_document(screen)
        if document == shown:
            return
        if shown is not None and not output.as_json:
            output.text(f"\n{services.clock.now().astimezone():%H:%M:%S}")
        shown = document
        _write(output, screen, services.clock.now())
        output.flush()

    async def show(_events: Sequence[Event]) -> bool:
        await look()
        return True

    after = await services.history.last()  # read before the look, so that no change between the two is missed
    await look()
    await follow(services, after, show, EventFilter(), seconds)


def status_document(screen: SpaceScreen) -> dict[str, Json]:
    """Return the status of a space, without its time."""
    status = screen.status
    circular = {*circles(status.waits)}
    agents = status.agents
    return {
        "store": screen.store,
        "paused": pause_document(status.pause) if status.pause else None,
        "totals": {
            "agents": len(agents),
            "live": sum(bool(agent.view.sessions) for agent in agents),
            "unseen": sum(agent.unseen or 0 for agent in agents),
            "owed": len(status.owed),
            "overdue": sum(agent.overdue for agent in agents),
            "tasks": dict(Counter(str(task.state) for task in status.tasks)),
            "children": len(status.children),
            "waits": sum(edge.is_wait for edge in status.waits),
            "stopped": len(status.stopped),
        },
        "agents": [_agent_document(screen, agent) for agent in agents],
        "owed": [
            {
                **ticket_document(ticket),
                "overdue": is_overdue(ticket, status.at),
                "text": screen.texts.get(ticket.message_id),
            }
            for ticket in by_urgency(status)
        ],
        "tasks": [_task_document(screen, task) for task in status.tasks],
        "children": [run_document(run) for run, _ in status.children],
        "waits": [wait_document(edge, edge in circular) for edge in status.waits if edge.is_wait],
        "stopped": [_stopped_document(found) for found in status.stopped],
    }


def _agent_document(screen: SpaceScreen, agent: AgentStatus) -> dict[str, Json]:
    oldest = agent.oldest_unseen_at
    return {
        **agent_document(agent.view),
        "doing": screen.doing(agent) or None,
        "unseen": agent.unseen,
        "oldest_unseen_at": format_instant(oldest) if oldest else None,
        "owes": len(agent.owed),
        "overdue": agent.overdue,
        "tasks": dict(Counter(str(task.state) for task in agent.tasks)),
    }


def _task_document(screen: SpaceScreen, task: Task) -> dict[str, Json]:
    return {
        "id": task.id,
        "name": screen.names.get(task.id),
        "agent": task.agent,
        "delegator": task.delegator,
        "state": str(task.state),
        "session": task.claimed_by,
        "scope": task.scope,
        "text": screen.texts.get(task.id),
        "created_at": format_instant(task.created_at),
        "deadline": format_instant(task.deadline) if task.deadline else None,
    }


def _stopped_document(found: Tree | StormStop) -> dict[str, Json]:
    subject = found.id if isinstance(found, StormStop) else found.root
    return {
        "id": subject,
        "text": stopped_subject(found),
        "stopped_at": format_instant(stopped_at(found)),
        "lift_with": f"covey storms lift {subject}",
    }
