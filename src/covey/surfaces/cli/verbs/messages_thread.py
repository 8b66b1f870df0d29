"""covey messages-thread."""

from argparse import ArgumentParser

from covey.core.dialogue_document import dialogue_document
from covey.core.ids import parse_message_id
from covey.surfaces.cli.call import Call

DESCRIPTION = "List the whole reply chain that a message is in, as a JSON array in causal order, swept ones included."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="any message of the chain")


def run(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(parse_message_id(call.options.id)))
    call.output.json([dialogue_document(message) for message in messages])
    return 0
