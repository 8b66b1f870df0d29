"""covey send."""

import sys
from argparse import ArgumentParser

from covey.core.address import parse_address
from covey.core.draft import Draft
from covey.core.ids import parse_message_id
from covey.core.message import Kind
from covey.core.names import parse_scope, parse_subject
from covey.core.parts import Part, TextPart
from covey.core.routing import WhenOffline
from covey.services.recipients import SendPolicy, WhenUnknown
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.receipts import show_receipt
from covey.surfaces.cli.when import parse_span

DESCRIPTION = "Send a message. When the command ends with 0 it is durable; the receipt says who has it and who has not."
EXAMPLES = """\
examples:
  covey send --from lead --to coder "The tests fail on main."
  git diff | covey send --from lead --to critic --request --subject weak-assertion --scope T-17 -"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", default="-", help="what to say; - or nothing reads stdin")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who says it; only claimed")
    parser.add_argument("--to", metavar="WHOM", action="append", help="an agent, a session or *; may be repeated")
    parser.add_argument("--request", action="store_true", help="ask for an answer: a debt until it is archived")
    parser.add_argument("--subject", help="a topic in kebab-case")
    parser.add_argument("--scope", help="what it is about; the gate counts what is owed in a scope")
    parser.add_argument("--round", type=int)
    parser.add_argument("--reply-to", metavar="ID", help="the message that it takes up")
    parser.add_argument("--expires", metavar="SPAN", help="not worth showing after 10m, 2h, 3d")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--id", help="send again with the same id, and nothing happens twice")
    parser.add_argument("--register", action="store_true", help="make unknown recipients known, and park their mail")
    offline = parser.add_mutually_exclusive_group()
    offline.add_argument("--park", action="store_true", help="keep mail for an agent that is offline (default)")
    offline.add_argument("--refuse", action="store_true", help="refuse where nobody is live")


def run(call: Call) -> int:
    options = call.options
    services = call.services
    parts: list[Part] = [TextPart(read_text(options.text))]
    parts += [call.run(services.attachments.snapshot(path)) for path in options.file]
    draft = Draft(
        kind=Kind.REQUEST if options.request else Kind.NOTIFY,
        to=tuple(parse_address(whom) for whom in options.to or ()),
        parts=tuple(parts),
        id=parse_message_id(options.id) if options.id else None,
        subject=parse_subject(options.subject) if options.subject else None,
        scope=parse_scope(options.scope) if options.scope else None,
        round=options.round,
        in_reply_to=parse_message_id(options.reply_to) if options.reply_to else None,
        expects_reply=options.request,
        expires_at=services.clock.now() + parse_span(options.expires) if options.expires else None,
    )
    policy = SendPolicy(
        when_offline=WhenOffline.REFUSE if options.refuse else WhenOffline.PARK,
        when_unknown=WhenUnknown.REGISTER if options.register else WhenUnknown.REFUSE,
    )
    receipt = call.run(services.mail.send(draft, call.actor(options.sender), policy))
    return show_receipt(call.output, receipt)


def read_text(given: str) -> str:
    """Return the text of a message: the argument, or stdin."""
    return sys.stdin.read() if given == "-" else given
