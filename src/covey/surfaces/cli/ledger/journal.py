"""The verbs that read the journal: `log` and `watch`."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName, known_scope, parse_agent_name, parse_message_id
from covey.ports.ledger import EventFilter
from covey.services.care.history import History
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.terminal.layout import show_event_line
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.times import parse_span, parse_when, positive
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.events import EventNarrator, event_document
from covey.surfaces.cli.views.log_lines import LogNarrator, LogTable

USUAL_LIMIT = 1000


def _log_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="continue with new events; by default from now on")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--after", type=int, metavar="POSITION", help="only events after this position")
    start.add_argument("--since", metavar="TIME", help="only newer events: 10m, 2h, 3d or an ISO time with a zone")
    parser.add_argument(
        "--limit", type=positive, metavar="N", help=f"maximum number of events (default {USUAL_LIMIT}; none with -f)"
    )
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with -f: end after 30s, 10m, 2h")
    parser.add_argument("--message", metavar="ID", help="only events of this message")
    parser.add_argument("--about", metavar="AGENT", help="only events by this agent or about it")
    parser.add_argument("--scope", help="only events of this scope")
    parser.add_argument(
        "--action", choices=list(Action), metavar="ACTION", help="only events of this kind, such as message.sent"
    )
    parser.add_argument("--ids", action="store_true", help="add positions, ids and details to each line")


def _run_log(call: Call) -> int:
    options = call.options
    wanted = EventFilter(
        message_id=parse_message_id(options.message) if options.message else None,
        agent=parse_agent_name(options.about) if options.about else None,
        scope=known_scope(options.scope) if options.scope else None,
        action=Action(options.action) if options.action else None,
    )
    _check_name(call, wanted)
    if options.follow:
        return _follow_log(call, wanted)
    limit = options.limit or USUAL_LIMIT
    events = call.run(call.services.history.read(_start(call, 0), limit + 1, wanted))
    call.run(_write(call.services, _log_table(call), call.output, events[:limit]))
    if not events and not call.output.as_json:
        call.output.text("No event matches.")
    if len(events) > limit:
        call.output.note(f"There is more: --after {events[limit - 1].position}")
    return 0


LOG: Final = Verb(
    arguments=_log_arguments,
    run=_run_log,
    description="""\
Show the journal, oldest first: one line for each event, with its local time, the agent, the action and the text. On a
terminal, a long text is cut to the width of the line. --ids adds positions, ids and details. With -f the command
continues with new events until Ctrl-C.""",
    examples="""\
examples:
  covey log --since 10m --about critic
  covey log --ids --message 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b
  covey log -f --json | jq .action
  covey log -f --after 0 --for 30s""",
)


def _follow_log(call: Call, wanted: EventFilter) -> int:
    from covey.surfaces.cli.live import follow, run_live

    after = _start(call, call.run(call.services.history.last()))
    seconds = parse_span(call.options.span).total_seconds() if call.options.span else None
    left = call.options.limit
    table = _log_table(call)

    async def following(services: Services) -> None:
        await follow(services, after, lambda events: show(services, events), wanted, seconds)

    async def show(services: Services, events: Sequence[Event]) -> bool:
        nonlocal left
        await _write(services, table, call.output, events[:left])
        call.output.flush()
        left = None if left is None else left - len(events)
        return left is None or left > 0

    call.output.note(f"Following the journal after position {after}; Ctrl-C ends it.")
    run_live(call, following)
    return 0


def _log_table(call: Call) -> LogTable:
    return LogTable(call.output, call.services.clock.now(), with_ids=call.options.ids)


async def _write(services: Services, table: LogTable, output: Output, events: Sequence[Event]) -> None:
    """Write events: a line of JSON each for programs, or the lines of the log for people."""
    if output.as_json:
        for event in events:
            output.json(event_document(event))
        return
    narrator = LogNarrator(services)
    table.write(events, [await narrator.line(event) for event in events])


def _check_name(call: Call, wanted: EventFilter) -> None:
    """Raise RecipientUnknown if the named agent is not known and no event is about it."""
    if wanted.agent is not None and not call.run(call.services.history.read(0, 1, EventFilter(agent=wanted.agent))):
        call.run(call.services.directory.agent(wanted.agent))


def _start(call: Call, usual: int) -> int:
    """Return the position after which to start."""
    if call.options.since:
        since = parse_when(call.options.since, call.services.clock.now())
        return call.run(_position_before(call.services.history, since))
    return usual if call.options.after is None else call.options.after


async def _position_before(history: History, since: datetime) -> int:
    """Return a position after which every event happened later than `since`.

    The journal is ordered by time, so a binary search reads only a few events.
    """
    low, high = 0, await history.last()
    while low < high:
        middle = (low + high) // 2
        events = await history.read(middle, 1)
        if not events or events[0].at > since:
            high = middle  # no older event after it is visible here
        else:
            low = events[0].position
    return low


def _watch_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="the agent to watch; by default the whole space")
    parser.add_argument(
        "--after", type=int, metavar="POSITION", help="start after this position of the journal, not now"
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="end after N events")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="end after 30s, 10m, 2h")


def _run_watch(call: Call) -> int:
    from covey.surfaces.cli.live import run_live  # imported late because it loads an event loop

    options = call.options
    seconds = parse_span(options.span).total_seconds() if options.span else None
    agent = parse_agent_name(options.name or options.actor) if options.name or options.actor else None
    whom = "the space" if agent is None else _standing(call, agent)
    after = options.after if options.after is not None else call.run(call.services.history.last())
    call.output.note(f"Watching {whom}; Ctrl-C ends it.")
    run_live(call, lambda services: _watch(services, call.output, after, agent, options.limit, seconds))
    return 0


WATCH: Final = Verb(
    arguments=_watch_arguments,
    run=_run_watch,
    description="""\
Show the events of a space as they happen: messages, the states of their deliveries, and sessions that join and leave.
With an agent: the mail that it receives, its own actions, and the states of the messages that it sent. Ctrl-C ends it.

The command changes nothing. Expired mail and dead processes appear when a program that is active in the space
records them.""",
    examples="""\
examples:
  covey watch
  covey watch critic --limit 1 --for 10m
  covey watch --json | jq -r 'select(.action == "message.sent") | .content.text'""",
)


def _standing(call: Call, agent: AgentName) -> str:
    view = call.run(call.services.directory.agent(agent))
    waiting = len(call.run(call.services.inbox.peek(agent)))
    return f"{agent} ({view.presence}, {waiting} waiting)"


async def _watch(
    services: Services, output: Output, after: int, agent: AgentName | None, limit: int | None, seconds: float | None
) -> None:
    from covey.surfaces.cli.live import follow  # imported late because it loads an event loop

    narrator = EventNarrator(services)
    left = limit

    async def show(events: Sequence[Event]) -> bool:
        nonlocal left
        for event in events:
            if agent is not None and not await narrator.concerns(event, agent):
                continue
            if await _show(output, narrator, event) and left is not None:
                left -= 1
            if left == 0:
                return False
        return True

    await follow(services, after, show, EventFilter(), seconds)


async def _show(output: Output, narrator: EventNarrator, event: Event) -> bool:
    """Write an event. Return True if there was anything to write."""
    if output.as_json:
        message = await narrator.message(event.message_id) if event.action is Action.MESSAGE_SENT else None
        output.json({**event_document(event), "content": message_document(message) if message else None})
        output.flush()
        return True
    told = await narrator.narrate(event)
    for word, text in told:
        show_event_line(output, event.at, word, text)
    output.flush()
    return bool(told)
