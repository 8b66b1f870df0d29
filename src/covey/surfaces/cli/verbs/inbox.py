"""covey inbox."""

from argparse import ArgumentParser

from covey.core.ledger.delivery import WAITING, DeliveryState
from covey.core.ledger.message import Kind
from covey.core.names import known_scope
from covey.services.mail.looking import InboxFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import parse_when, positive
from covey.surfaces.cli.views.documents import delivery_document, message_document

DESCRIPTION = """\
Look at what waits for an agent, parked or with any of its sessions. Looking changes nothing. The numbers can be used
with reply, approve, reject, handle, dismiss, archive and thread."""
EXAMPLES = """\
examples:
  covey inbox coder
  covey inbox coder --scope T-17 --kind request --since 2h
  covey inbox coder --state queued --json"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whose inbox; by default that of who acts")
    parser.add_argument("--scope", help="only messages of this scope")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument(
        "--state", choices=[str(state) for state in sorted(WAITING)], help="only deliveries in this state"
    )
    parser.add_argument("--since", metavar="TIME", help="only newer ones: 10m, 2h, 3d or an ISO time with a zone")
    parser.add_argument("--until", metavar="TIME", help="only older ones, likewise")
    parser.add_argument("--limit", type=positive, default=100, metavar="N", help="how many at most (default 100)")


def run(call: Call) -> int:
    options = call.options
    now = call.services.clock.now()
    wanted = InboxFilter(
        scope=known_scope(options.scope) if options.scope else None,
        kind=Kind(options.kind) if options.kind else None,
        since=parse_when(options.since, now) if options.since else None,
        until=parse_when(options.until, now) if options.until else None,
        states={DeliveryState(options.state)} if options.state else WAITING,
    )
    agent = call.agent(options.name)
    items = call.run(call.services.looking.peek(agent, wanted, options.limit))
    if call.output.as_json:
        call.output.json(
            [{**message_document(i.message), **delivery_document(i.delivery), "state": str(i.state)} for i in items]
        )
        return 0
    from covey.surfaces.cli.views.listing import show_items

    is_narrowed = any((options.scope, options.kind, options.since, options.until, options.state))
    show_items(call.output, items, now, f"Nothing {'of that ' if is_narrowed else ''}waits for {agent}.")
    if len(items) == options.limit:
        call.output.note(f"The first {options.limit}; --limit shows more.")
    return 0
