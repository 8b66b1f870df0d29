"""covey reply."""

from argparse import ArgumentParser

from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Part
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.drafts import text_parts
from covey.surfaces.cli.options.references import HELP, message_of
from covey.surfaces.cli.views.receipts import show_receipt

DESCRIPTION = """\
Answer a message; it goes to whoever sent it. A request that was answered is still owed until it is archived, which
says that you are done with it; --close does both in one step."""
EXAMPLES = """\
examples:
  covey reply 3 "Yes: the old one hid a bug." --from coder
  make test 2>&1 | tail -20 | covey reply 3 --from tester --close"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=HELP)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the answer; - or nothing reads stdin")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who answers; only claimed")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--close", action="store_true", help="archive the request too")


def run(call: Call) -> int:
    options = call.options
    answered = message_of(call, options.id, options.sender)
    parts: list[Part] = [*text_parts(options.text, call.output, has_files=bool(options.file))]
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    draft = Draft(Kind.RESPONSE, (), tuple(parts), in_reply_to=answered)
    actor = call.actor(options.sender)
    return show_receipt(call.output, call.run(call.services.mail.send(draft, actor, SendPolicy(closes=options.close))))
