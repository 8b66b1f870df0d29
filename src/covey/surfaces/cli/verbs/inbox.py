"""covey inbox."""

from argparse import ArgumentParser

from covey.core.delivery import WAITING, DeliveryState
from covey.core.message import Kind
from covey.core.names import parse_scope
from covey.services.mail import InboxFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.documents import delivery_document, message_document
from covey.surfaces.cli.when import parse_when

DESCRIPTION = "Look at what waits for an agent, parked or with any of its sessions. Looking changes nothing."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whose inbox; by default that of who acts")
    parser.add_argument("--scope", help="only messages of this scope")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument(
        "--state", choices=[str(state) for state in sorted(WAITING)], help="only deliveries in this state"
    )
    parser.add_argument("--since", metavar="TIME", help="only newer ones: 10m, 2h, 3d or an ISO time with a zone")
    parser.add_argument("--limit", type=int, default=100, help="how many at most (default 100)")


def run(call: Call) -> int:
    options = call.options
    wanted = InboxFilter(
        scope=parse_scope(options.scope) if options.scope else None,
        kind=Kind(options.kind) if options.kind else None,
        since=parse_when(options.since, call.services.clock.now()) if options.since else None,
        states={DeliveryState(options.state)} if options.state else WAITING,
    )
    agent = call.run(call.services.directory.agent(call.agent(options.name))).name
    items = call.run(call.services.mail.peek(agent, wanted, options.limit))
    if call.output.as_json:
        call.output.json(
            [{**message_document(i.message), **delivery_document(i.delivery), "state": str(i.state)} for i in items]
        )
        return 0
    call.output.table(
        ("#", "from", "kind", "state", "subject", "text"),
        [
            (
                str(item.delivery.number),
                str(item.message.sender),
                f"{item.message.kind}{' (reply wanted)' if item.message.expects_reply else ''}",
                str(item.state),
                item.message.subject or "",
                item.message.text,
            )
            for item in items
        ],
        f"Nothing waits for {agent}.",
    )
    return 0
