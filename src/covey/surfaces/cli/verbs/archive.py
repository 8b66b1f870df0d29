"""covey archive."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import HELP, message_of

DESCRIPTION = """\
Put a message away for its recipient, who acts. A request that expects a reply must have been answered first, unless
it can't be any more; archiving it closes the debt."""
EXAMPLES = """\
examples:
  covey archive 3 --agent coder"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=HELP)


def run(call: Call) -> int:
    message_id = message_of(call, call.options.id)
    actor = call.actor()
    call.run(call.services.dialogue.archive(message_id, actor, call.on_behalf(actor)))
    if call.output.as_json:
        call.output.json({"id": message_id, "archived": True})
    else:
        call.output.text(f"{message_id} is archived.")
    return DONE
