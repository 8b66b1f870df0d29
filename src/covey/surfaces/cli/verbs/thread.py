"""covey thread."""

from argparse import ArgumentParser

from covey.core.ids import MessageId, parse_message_id
from covey.core.message import Message
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.documents import message_document
from covey.surfaces.cli.output import one_line


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="any message of the thread")


def run(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(parse_message_id(call.options.id)))
    if call.output.as_json:
        call.output.json([message_document(message) for message in messages])
        return 0
    depths: dict[MessageId, int] = {}
    for message in messages:
        depths[message.id] = depths.get(message.in_reply_to, -1) + 1 if message.in_reply_to else 0
        call.output.text(line_of(message, depths[message.id]))
    return 0


def line_of(message: Message, depth: int) -> str:
    """Return a message as one line of a tree."""
    to = ", ".join(address.value for address in message.to)
    branch = "   " * (depth - 1) + "└─ " if depth else ""
    return f"{branch}{message.kind} {message.sender} → {to}: {one_line(message.text)}  [{message.id}]"
