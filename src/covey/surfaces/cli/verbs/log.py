"""covey log."""

from argparse import ArgumentParser
from collections.abc import Sequence

from covey.core.ids import parse_message_id
from covey.core.ledger.event import Action, Event
from covey.core.names import known_scope, parse_agent_name
from covey.ports.ledger import EventFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import parse_span, parse_when, positive
from covey.surfaces.cli.views.events import show_event

DESCRIPTION = """\
Read the journal, oldest first: every change of the space, and who made it. With -f it stays and shows what happens,
as it happens, until Ctrl-C."""
EXAMPLES = """\
examples:
  covey log --since 10m --about critic
  covey log -f --json | jq .action
  covey log -f --after 0 --for 30s"""
USUAL_LIMIT = 1000


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="go on as more happens; by default from now on")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--after", type=int, metavar="POSITION", help="only what happened after it")
    start.add_argument("--since", metavar="TIME", help="only newer events: 10m, 2h, 3d or an ISO time with a zone")
    parser.add_argument(
        "--limit", type=positive, metavar="N", help=f"how many at most (default {USUAL_LIMIT}; none with -f)"
    )
    parser.add_argument("--for", dest="span", metavar="SPAN", help="with -f: end after 30s, 10m, 2h")
    parser.add_argument("--message", metavar="ID", help="only what concerns a message")
    parser.add_argument("--about", metavar="AGENT", help="only what an agent did, or what concerns it")
    parser.add_argument("--scope", help="only what happened in a scope")
    parser.add_argument("--action", choices=list(Action), metavar="ACTION", help="only these, such as message.sent")


def run(call: Call) -> int:
    options = call.options
    wanted = EventFilter(
        message_id=parse_message_id(options.message) if options.message else None,
        agent=parse_agent_name(options.about) if options.about else None,
        scope=known_scope(options.scope) if options.scope else None,
        action=Action(options.action) if options.action else None,
    )
    _check_name(call, wanted)
    if options.follow:
        return _follow(call, wanted)
    limit = options.limit or USUAL_LIMIT
    events = call.run(call.services.history.read(_start(call, 0), limit + 1, wanted))
    for event in events[:limit]:
        show_event(call.output, event)
    if not events and not call.output.as_json:
        call.output.text("Nothing of that kind has happened.")
    if len(events) > limit:
        call.output.note(f"There is more: --after {events[limit - 1].position}")
    return 0


def _follow(call: Call, wanted: EventFilter) -> int:
    from covey.surfaces.cli.follow import follow
    from covey.surfaces.cli.live import run_live

    after = _start(call, call.run(call.services.history.last()))
    seconds = parse_span(call.options.span).total_seconds() if call.options.span else None
    left = call.options.limit

    async def show(events: Sequence[Event]) -> bool:
        nonlocal left
        for event in events[:left]:
            show_event(call.output, event)
        call.output.flush()
        left = None if left is None else left - len(events)
        return left is None or left > 0

    call.output.note(f"Following the journal after position {after}; Ctrl-C ends it.")
    run_live(call, lambda services: follow(services, after, show, wanted, seconds))
    return 0


def _check_name(call: Call, wanted: EventFilter) -> None:
    """Raise RecipientUnknown if the named agent is not known and no event is about it."""
    if wanted.agent is not None and not call.run(call.services.history.read(0, 1, EventFilter(agent=wanted.agent))):
        call.run(call.services.directory.agent(wanted.agent))


def _start(call: Call, usual: int) -> int:
    """Return the position after which to start."""
    if call.options.since:
        from covey.surfaces.cli.follow import position_before

        since = parse_when(call.options.since, call.services.clock.now())
        return call.run(position_before(call.services.history, since))
    return usual if call.options.after is None else call.options.after
