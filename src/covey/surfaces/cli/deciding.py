"""Decisions: approval or rejection of a message that asks for it.

The kind of the message determines the effect.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Final

from covey.core.identity import Identity
from covey.core.ledger.message import Kind, Message
from covey.core.work.approval import Decision
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import HELP, message_of

Decider = Callable[[Call, Message, Identity, Decision], int]


def add_deciding(parser: ArgumentParser, why: str) -> None:
    """Add the arguments of a decision."""
    parser.add_argument("id", metavar="ID", help=HELP)
    parser.add_argument("--reason", metavar="TEXT", default="", help=why)
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who decides; only claimed")


def decide(call: Call, approve: bool) -> int:
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
    from covey.surfaces.cli.tasks.moving import decide_task

    return decide_task(call, message.id, actor, decision)


_DECIDERS: Final[Mapping[Kind, Decider]] = {Kind.REQUEST: _on_approval, Kind.TASK: _on_task}
"""The decision handler of each kind of message."""
