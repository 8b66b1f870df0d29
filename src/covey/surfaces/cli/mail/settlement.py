"""The verbs with which a recipient settles a message: `approve`, `reject`, `handle`, `dismiss` and `archive`."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.message import Kind, Message
from covey.core.names import ticket_id
from covey.core.work.approval import Decision
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import MESSAGE_HELP, add_actor, message_of
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.views.documents import delivery_document

_Decider = Callable[[Call, Message, Identity, Decision], int]


def _decision_arguments(parser: ArgumentParser, why: str) -> None:
    """Add the arguments of a decision."""
    parser.add_argument("id", metavar="ID", help=MESSAGE_HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help=why)
    add_actor(parser, "the agent that decides")


def _decide(call: Call, approve: bool) -> int:
    """Approve or reject the named message."""
    options = call.options
    message_id = message_of(call, options.id, options.sender)
    message = call.run(call.services.mail.message(message_id))
    decider = _DECIDERS.get(message.kind, _on_approval)
    return decider(call, message, call.actor(options.sender), Decision(approve, options.reason))


def _on_approval(call: Call, message: Message, actor: Identity, decision: Decision) -> int:
    receipt = call.run(call.services.approvals.decide(message.id, actor, decision))
    if call.output.as_json:
        call.output.json({"id": message.id, "decision": decision.word, "answer": receipt.message_id})
    else:
        call.output.text(f"{message.id} is {decision.word}.")
    return DONE


def _on_task(call: Call, message: Message, actor: Identity, decision: Decision) -> int:
    from covey.surfaces.cli.tasks.moves import decide_task

    return decide_task(call, message.id, actor, decision)


_DECIDERS: Final[Mapping[Kind, _Decider]] = {Kind.REQUEST: _on_approval, Kind.TASK: _on_task}
"""The decision handler of each kind of message."""


APPROVE: Final = Verb(
    arguments=partial(_decision_arguments, why="a remark for the asking agent"),
    run=partial(_decide, approve=True),
    description="""\
Approve the request in a message: a plan, a shutdown, or another request for approval. The sender is told, and the
request is closed. The first decision counts: the same decision again changes nothing, another one is refused.""",
    examples="""\
examples:
  covey approve 3 --as lead
  covey approve 3 --as lead --reason "but keep the old parser for a week" """.rstrip(),
)


REJECT: Final = Verb(
    arguments=partial(_decision_arguments, why="the reason; it is required"),
    run=partial(_decide, approve=False),
    description="""\
Reject the request for approval in a message, or a task that was not accepted yet. The reason is sent to the asking
agent. The first decision counts: the same decision again changes nothing, another one is refused.""",
    examples="""\
examples:
  covey reject 3 --as lead --reason "the tests first"
  covey reject coder:4 --as coder --reason "there is no such file" """.rstrip(),
)


def _settlement_arguments(parser: ArgumentParser, reason: str) -> None:
    """Add the arguments of a verb that settles messages."""
    parser.add_argument("ids", metavar="ID", nargs="+", help="a message: its id, or its number in the inbox")
    parser.add_argument("--why", metavar="REASON", default=reason, help=f"for the ledger (default: {reason})")


def _settle(call: Call) -> int:
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


HANDLE: Final = Verb(
    arguments=partial(_settlement_arguments, reason="handled"),
    run=_settle,
    description="""\
Mark messages as handled: they leave the inbox of the acting agent. A request that is only marked as handled still has
to be answered.""",
    examples="""\
examples:
  covey handle 3 4 --as coder
  covey handle 5 --as coder --why "done in 4f2a1c" """.rstrip(),
)


DISMISS: Final = Verb(
    arguments=partial(_settlement_arguments, reason="dismissed"),
    run=_settle,
    description="""\
Dismiss messages: they leave the inbox of the acting agent, and the ledger records that they were dismissed. A request
that is dismissed still has to be answered.""",
    examples="""\
examples:
  covey dismiss 5 --as coder
  covey dismiss 5 6 7 --as coder --why "about a branch that is gone" """.rstrip(),
)


def _archive_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=MESSAGE_HELP)


def _run_archive(call: Call) -> int:
    message_id = message_of(call, call.options.id)
    actor = call.actor()
    call.run(call.services.dialogue.archive(message_id, actor, call.on_behalf(actor)))
    if call.output.as_json:
        call.output.json({"id": message_id, "archived": True})
    else:
        call.output.text(f"{message_id} is archived.")
    return DONE


ARCHIVE: Final = Verb(
    arguments=_archive_arguments,
    run=_run_archive,
    description="""\
Put a message away for its recipient, the acting agent. A request that expects a reply must have been answered first,
unless an answer is no longer possible. Archiving it closes the question. `covey reply` already closes it; archiving
is for answers with --keep-open.""",
    examples="""\
examples:
  covey archive 3 --as coder""",
)
