"""covey archive."""

from argparse import ArgumentParser

from covey.core.ids import parse_message_id
from covey.surfaces.cli.call import Call


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the message to put away")


def run(call: Call) -> int:
    message_id = parse_message_id(call.options.id)
    call.run(call.services.dialogue.archive(message_id, call.actor()))
    if call.output.as_json:
        call.output.json({"id": message_id, "archived": True})
    else:
        call.output.text(f"{message_id} is archived")
    return 0
