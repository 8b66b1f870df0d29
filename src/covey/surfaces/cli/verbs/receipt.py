"""covey receipt."""

from argparse import ArgumentParser

from covey.core.ids import parse_message_id
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.receipts import show_receipt


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the message")


def run(call: Call) -> int:
    show_receipt(call.output, call.run(call.services.mail.receipt(parse_message_id(call.options.id))))
    return 0
