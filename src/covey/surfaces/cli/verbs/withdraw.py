"""covey withdraw."""

from argparse import ArgumentParser

from covey.core.ids import parse_message_id
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.views.receipts import show_receipt

DESCRIPTION = """\
Take a message back from every inbox where nobody was shown it yet; only its sender can. Where somebody was shown it
everywhere, nothing can be taken back, and the exit code is 1."""
EXAMPLES = """\
examples:
  covey withdraw 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b --from lead"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the message, by the id that `covey send` wrote")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who sent it; only claimed")


def run(call: Call) -> int:
    message_id = parse_message_id(call.options.id)
    show_receipt(call.output, call.run(call.services.mail.withdraw(message_id, call.actor(call.options.sender))))
    return DONE
