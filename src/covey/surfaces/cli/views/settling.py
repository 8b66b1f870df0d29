"""Settling: the common part of `handle` and `dismiss`."""

from argparse import ArgumentParser

from covey.core.ids import ticket_id
from covey.core.json import Json
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import message_of
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.documents import delivery_document


def add_settling(parser: ArgumentParser, reason: str) -> None:
    """Add the arguments of a verb that settles messages."""
    parser.add_argument("ids", metavar="ID", nargs="+", help="a message: its id, or its number in the inbox")
    parser.add_argument("--why", metavar="REASON", default=reason, help=f"for the ledger (default: {reason})")


def settle(call: Call) -> int:
    """Settle the named messages for the acting agent, and note which answers are still owed."""
    actor = call.actor()
    message_ids = [message_of(call, text) for text in call.options.ids]
    receipts = [call.run(call.services.mail.settle(named, actor, call.options.why)) for named in message_ids]
    owed = {ticket.id: ticket for ticket in call.run(call.services.dialogue.owed_by(actor.agent))}
    if call.output.as_json:
        settled: list[Json] = []
        for receipt in receipts:
            copies = [delivery_document(copy) for copy in receipt.deliveries]
            is_owed = ticket_id(receipt.message_id, actor.agent) in owed
            settled.append({"id": receipt.message_id, "owed": is_owed, "deliveries": copies})
        call.output.json(settled)
        return DONE
    for receipt in receipts:
        for copy in receipt.deliveries:
            if copy.agent == actor.agent or actor.is_operator:
                why = f", {one_line(copy.reason)}" if copy.reason and copy.reason != copy.state else ""
                call.output.text(f"{receipt.message_id} is {copy.state}{why}.")
        ticket = owed.get(ticket_id(receipt.message_id, actor.agent))
        if ticket is not None:
            call.output.note(f"{ticket.debtor} still owes {ticket.asker} an answer: covey reply {receipt.message_id}")
    return DONE
