"""decide_approval: approve or reject what a peer asks for. The first decision counts."""

from typing import Final

from covey.core.work.approval import Decision
from covey.toolkits.answers import as_json
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    message_id = await message_of(caller, str(arguments["request"]), "request")
    decision = Decision(arguments["approve"] is True, str(arguments.get("reason", "")))
    await caller.services.approvals.decide(message_id, caller.identity, decision)
    await was_named(caller, message_id, DECIDE_APPROVAL.name)
    asker = (await caller.services.mail.message(message_id)).sender.agent
    return as_json({"request_id": message_id, "decision": decision.word, "told": asker})


DECIDE_APPROVAL: Final = Tool(
    name="decide_approval",
    description=(
        "Approve or reject what a peer asks you to approve: a message with an approval attribute. The peer is told and "
        "acts on it; you can't change it later."
    ),
    parameters=(
        Parameter("request", "number of the message that asks", Form.MESSAGE, is_required=True),
        Parameter("approve", "true to approve, false to reject", Form.FLAG, is_required=True),
        Parameter("reason", "why; needed to reject"),
    ),
    run=_run,
)
