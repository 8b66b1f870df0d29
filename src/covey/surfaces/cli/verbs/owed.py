"""covey owed."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.documents import ticket_document


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT", help="whose debts; by default those of who acts")
    parser.add_argument("--to", dest="to_agent", action="store_true", help="what the agent waits for, instead")


def run(call: Call) -> int:
    agent = call.run(call.services.directory.agent(call.agent(call.options.name))).name
    dialogue = call.services.dialogue
    tickets = call.run(dialogue.owed_to(agent) if call.options.to_agent else dialogue.owed_by(agent))
    if call.output.as_json:
        call.output.json([ticket_document(ticket) for ticket in tickets])
        return 0
    call.output.table(
        ("who owes", "to", "state", "scope", "subject", "message"),
        [
            (
                t.debtor,
                t.asker,
                f"{t.state}{f' ({t.trouble})' if t.trouble else ''}",
                t.scope or "",
                t.subject or "",
                t.message_id,
            )
            for t in tickets
        ],
        f"Nothing is owed {'to' if call.options.to_agent else 'by'} {agent}.",
    )
    return 0
