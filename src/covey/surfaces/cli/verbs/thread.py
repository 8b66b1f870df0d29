"""covey thread."""

from argparse import ArgumentParser
from collections.abc import Sequence

from covey.core.ledger.message import Message
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import HELP, message_of
from covey.surfaces.cli.terminal.branches import branches
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.headline import extras, headline

DESCRIPTION = """\
Show the whole dialogue that a message is in, as a tree: each reply below what it answers. What was put away is there
too. With --json it is a list, causes before effects."""
EXAMPLES = """\
examples:
  covey thread 3 --agent coder
  covey thread 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=HELP)


def run(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(message_of(call, call.options.id)))
    if call.output.as_json:
        call.output.json([message_document(message) for message in messages])
    elif call.output.is_for_a_person:
        _show(call, messages)
    else:
        for message, lead, _ in branches(messages):
            to = ", ".join(address.value for address in message.to)
            call.output.text(f"{lead}{message.kind} {message.sender} → {to}: {one_line(message.text)}  [{message.id}]")
    return DONE


def _show(call: Call, messages: Sequence[Message]) -> None:
    """Show the tree to a person, with the full texts."""
    now = call.services.clock.now()
    for message, lead, margin in branches(messages):
        call.output.pieces(*headline(message, now), lead=lead, margin=margin)
        for line in (*message.text.splitlines(), *extras(message)):
            call.output.pieces((line, ""), lead=margin, margin=margin)
        call.output.pieces((message.id, "dim"), lead=margin, margin=margin)
