"""covey log."""

from argparse import ArgumentParser

from covey.core.event import Action, Event
from covey.core.ids import parse_message_id
from covey.core.json import Json
from covey.core.names import parse_agent_name, parse_scope
from covey.core.times import format_instant
from covey.ports.journal import EventFilter
from covey.surfaces.cli.call import Call


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--after", type=int, default=0, metavar="POSITION", help="only what happened after it")
    parser.add_argument("--limit", type=int, default=1000, help="how many at most (default 1000)")
    parser.add_argument("--message", metavar="ID", help="only what concerns a message")
    parser.add_argument("--about", metavar="AGENT", help="only what an agent did, or what concerns it")
    parser.add_argument("--scope", help="only what happened in a scope")
    parser.add_argument("--action", choices=[str(action) for action in Action], help="only actions of this kind")


def run(call: Call) -> int:
    options = call.options
    wanted = EventFilter(
        message_id=parse_message_id(options.message) if options.message else None,
        agent=parse_agent_name(options.about) if options.about else None,
        scope=parse_scope(options.scope) if options.scope else None,
        action=Action(options.action) if options.action else None,
    )
    events = call.run(call.services.history.read(options.after, options.limit, wanted))
    if call.output.as_json:
        for event in events:
            call.output.json(event_document(event))
        return 0
    call.output.table(
        ("#", "at", "who", "what", "details"),
        [
            (
                str(event.position),
                format_instant(event.at)[:19],
                str(event.actor),
                str(event.action),
                ", ".join(f"{name} {value}" for name, value in event.details.items() if value is not None),
            )
            for event in events
        ],
        "Nothing has happened.",
    )
    return 0


def event_document(event: Event) -> dict[str, Json]:
    """Return an event as programs get it: one line of JSON each."""
    return {
        "position": event.position,
        "at": format_instant(event.at),
        "action": str(event.action),
        "actor": {"agent": event.actor.agent, "session": event.actor.session, "grade": str(event.actor.grade)},
        "message": event.message_id,
        "agent": event.agent,
        "scope": event.scope,
        "details": event.details,
    }
