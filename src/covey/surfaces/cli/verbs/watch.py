"""covey watch."""

from argparse import ArgumentParser
from collections.abc import Sequence

from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName, parse_agent_name
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.when import parse_span, positive
from covey.surfaces.cli.terminal.moments import show_moment
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.events import event_document
from covey.surfaces.cli.views.telling import Teller

DESCRIPTION = """\
Watch a space, or one agent in it, as things happen: who sends what to whom, how far it gets, who joins and leaves.
For an agent: what it gets, what it does, and what becomes of what it sent. Ctrl-C ends it.

Watching changes nothing. That mail has expired or a process has died shows when a program that is active in the space
writes it down."""
EXAMPLES = """\
examples:
  covey watch
  covey watch critic --limit 1 --for 10m
  covey watch --json | jq -r 'select(.action == "message.sent") | .content.text'"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whom to watch; by default the whole space")
    parser.add_argument("--after", type=int, metavar="POSITION", help="begin there in the journal, not with now")
    parser.add_argument("--limit", type=positive, metavar="N", help="end after so many events")
    parser.add_argument("--for", dest="span", metavar="SPAN", help="end after 30s, 10m, 2h")


def run(call: Call) -> int:
    options = call.options
    seconds = parse_span(options.span).total_seconds() if options.span else None
    agent = parse_agent_name(options.name or options.agent) if options.name or options.agent else None
    whom = "the space" if agent is None else _standing(call, agent)
    after = options.after if options.after is not None else call.run(call.services.history.last())
    call.output.note(f"Watching {whom}; Ctrl-C ends it.")
    run_live(call, lambda services: _watch(services, call.output, after, agent, options.limit, seconds))
    return 0


def _standing(call: Call, agent: AgentName) -> str:
    view = call.run(call.services.directory.agent(agent))
    waiting = len(call.run(call.services.looking.peek(agent)))
    return f"{agent} ({view.presence}, {waiting} waiting)"


async def _watch(
    services: Services, output: Output, after: int, agent: AgentName | None, limit: int | None, seconds: float | None
) -> None:
    teller = Teller(services)
    left = limit

    async def show(events: Sequence[Event]) -> bool:
        nonlocal left
        for event in events:
            if agent is not None and not await teller.concerns(event, agent):
                continue
            if await _show(output, teller, event) and left is not None:
                left -= 1
            if left == 0:
                return False
        return True

    await follow(services, after, show, EventFilter(), seconds)


async def _show(output: Output, teller: Teller, event: Event) -> bool:
    """Write an event. Return True if there was anything to write."""
    if output.as_json:
        message = await teller.message(event.message_id) if event.action is Action.MESSAGE_SENT else None
        output.json({**event_document(event), "content": message_document(message) if message else None})
        output.flush()
        return True
    told = await teller.tell(event)
    for word, text in told:
        show_moment(output, event.at, word, text)
    output.flush()
    return bool(told)
