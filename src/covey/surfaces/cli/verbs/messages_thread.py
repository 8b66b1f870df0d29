"""covey messages-thread."""

from argparse import ArgumentParser

from covey.core.formats.dialogue import dialogue_document
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.references import add_message, message_given

DESCRIPTION = "List the whole reply chain that a message is in, as a JSON array in causal order, swept ones included."


def arguments(parser: ArgumentParser) -> None:
    add_message(parser, "any message of the chain")


def run(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(message_given(call.options)))
    call.output.json([dialogue_document(message) for message in messages])
    return 0
