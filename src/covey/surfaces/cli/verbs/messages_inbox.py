"""covey messages-inbox."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.formats.dialogue import dialogue_document
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind
from covey.core.names import known_scope, parse_agent_name
from covey.services.mail.looking import InboxFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import parse_when

DESCRIPTION = """\
List what an agent has not archived, as a JSON array: what waits for it, and the requests that it has answered and not
archived. Looking changes nothing."""
EXAMPLES = """\
examples:
  covey messages-inbox --agent np-executor
  covey messages-inbox --agent np-executor --task T-1 --kind request --since 10m"""

ANY_STATE = frozenset(DeliveryState)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="whose inbox")
    parser.add_argument("--task", "--phase", dest="task", help="only messages of this task")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument("--since", metavar="TIME", help="only newer ones: 10m, 2h, 3d or an ISO time with a zone")


def run(call: Call) -> int:
    options = call.options
    if options.agent is None:
        raise Invalid("agent", None, "messages-inbox needs --agent")
    wanted = InboxFilter(
        scope=known_scope(options.task) if options.task else None,
        kind=Kind(options.kind) if options.kind else None,
        since=parse_when(options.since, call.services.clock.now()) if options.since else None,
        states=ANY_STATE,
    )
    items = call.run(call.services.dialogue.unarchived(parse_agent_name(options.agent)))
    call.output.json(
        [{**dialogue_document(item.message), "state": str(item.state)} for item in items if wanted.fits(item)]
    )
    return 0
