"""covey sweep."""

from argparse import ArgumentParser

from covey.core.names import known_scope
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.forcing import add_forcing, reason
from covey.surfaces.cli.views.ticket_document import ticket_document

DESCRIPTION = """\
Put all messages of a scope away, once nothing in it is owed: the gate must be open, or be forced. They stay readable
in their threads and by search."""
EXAMPLES = """\
examples:
  covey sweep T-17 --agent lead
  covey sweep T-17 --agent lead --force-commit-phase --why "critic retired" """.rstrip()


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE")
    add_forcing(parser)


def run(call: Call) -> int:
    scope = known_scope(call.options.scope)
    swept = call.run(call.services.dialogue.sweep(scope, call.actor(), reason(call.options)))
    over = swept.verdict.owed
    if call.output.as_json:
        forced = [ticket_document(ticket) for ticket in over]
        call.output.json({"scope": scope, "messages_swept": swept.messages_swept, "forced_over": forced})
    else:
        by_force = f", by force over {len(over)} request(s)" if over else ""
        call.output.text(f"{swept.messages_swept} message(s) of {scope} are put away{by_force}.")
    return DONE
