"""covey reply."""

from argparse import ArgumentParser

from covey.core.draft import Draft
from covey.core.ids import parse_message_id
from covey.core.message import Kind
from covey.core.parts import TextPart
from covey.services.recipients import SendPolicy
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.receipts import show_receipt
from covey.surfaces.cli.verbs.send import read_text

DESCRIPTION = "Answer a message; it goes to whoever sent it. A request then only waits to be archived."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the message to answer")
    parser.add_argument("text", metavar="TEXT", nargs="?", default="-", help="the answer; - or nothing reads stdin")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who answers; only claimed")
    parser.add_argument("--close", action="store_true", help="close the debt too, instead of archiving it later")


def run(call: Call) -> int:
    options = call.options
    parts = (TextPart(read_text(options.text)),)
    draft = Draft(Kind.RESPONSE, (), parts, in_reply_to=parse_message_id(options.id))
    policy = SendPolicy(closes=options.close)
    receipt = call.run(call.services.mail.send(draft, call.actor(options.sender), policy))
    return show_receipt(call.output, receipt)
