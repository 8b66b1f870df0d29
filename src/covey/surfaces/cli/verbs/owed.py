"""covey owed."""

from argparse import ArgumentParser

from covey.core.names import known_scope
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.views.approvals import wanted_approval
from covey.surfaces.cli.views.debts import show_debts
from covey.surfaces.cli.views.ticket_document import ticket_document

DESCRIPTION = """\
List the answers that an agent owes, oldest first, or with --to those that it waits for. A debt is open until it is
answered, and owed until it is archived; what waits for `covey approve` or `covey reject` says so. With --scope alone:
everything that holds the gate of that scope."""
EXAMPLES = """\
examples:
  covey owed coder
  covey owed --to lead
  covey owed --scope T-17"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whose debts; by default those of who acts")
    parser.add_argument("--to", dest="to_agent", action="store_true", help="what the agent waits for, instead")
    parser.add_argument("--scope", help="only what is owed in this scope")


def run(call: Call) -> int:
    options = call.options
    dialogue = call.services.dialogue
    scope = known_scope(options.scope) if options.scope else None
    if scope is not None and options.name is None and not options.to_agent:
        tickets = call.run(dialogue.gate(scope)).owed
        nothing = f"Nothing is owed in {scope}."
    else:
        agent = call.run(call.services.directory.agent(call.agent(options.name))).name
        owed = call.run(dialogue.owed_to(agent) if options.to_agent else dialogue.owed_by(agent))
        tickets = tuple(ticket for ticket in owed if scope is None or ticket.scope == scope)
        nothing = f"Nothing is owed {'to' if options.to_agent else 'by'} {agent}{f' in {scope}' if scope else ''}."
    approvals = {ticket.id: wanted_approval(call, ticket.message_id) for ticket in tickets}
    if call.output.as_json:
        call.output.json([{**ticket_document(ticket), "approval": approvals[ticket.id]} for ticket in tickets])
    else:
        show_debts(call, tickets, nothing, approvals)
    return DONE
