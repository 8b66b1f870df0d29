"""send_message: tell others something, or answer a message."""

from typing import Final

from covey.core.address import EVERYONE, Address
from covey.core.errors import Invalid
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, Part, TextPart
from covey.core.ledger.receipt import Receipt
from covey.core.work.approval import Decision
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.arguments import given_text, given_texts
from covey.toolkits.leading import led
from covey.toolkits.others import other_party
from covey.toolkits.outcomes import outcome_data, outcome_lines
from covey.toolkits.references import check_answerable, message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool

POLICY: Final = SendPolicy(closes=True)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    text = given_text(arguments, "message")
    if text is None:
        raise Invalid("message", "", "say something")
    reference, to, files = (
        given_text(arguments, "reply_to"),
        given_text(arguments, "to"),
        given_texts(arguments, "files"),
    )
    if "approve" in arguments:
        if files:
            raise Invalid("files", files, "a decision carries none: send them in a message of their own")
        return await _decide(caller, reference, to, Decision(arguments["approve"] is True, text))
    parts: list[Part] = [TextPart(text), *[await caller.services.attachments.snapshot(path) for path in files]]
    if reference is None:
        draft = Draft(Kind.NOTIFY, await _recipients(caller, to), tuple(parts))
    else:
        answered = await _answered(caller, reference, to)
        draft = Draft(Kind.RESPONSE, (), tuple(parts), in_reply_to=answered.id)
    receipt = await caller.services.mail.send(await led(caller, draft), caller.identity, POLICY)
    if draft.in_reply_to is not None:
        await was_named(caller, draft.in_reply_to, SEND_MESSAGE.name)
    return _answer(receipt)


async def _decide(caller: Caller, reference: str | None, to: str | None, decision: Decision) -> Answer:
    if reference is None:
        raise Invalid("approve", decision.approve, "say in reply_to which message you approve or reject")
    request = await _answered(caller, reference, to)
    receipt = await caller.services.approvals.decide(request.id, caller.identity, decision)
    await was_named(caller, request.id, SEND_MESSAGE.name)
    told = f"You {decision.word} what {request.sender.agent} asked for."
    return Answer(told, {**outcome_data(receipt), "decision": decision.word})


async def _recipients(caller: Caller, to: str | None) -> tuple[Address, ...]:
    if to is None:
        raise Invalid("to", None, "name an agent, or give reply_to to answer a message")
    if to.strip() == EVERYONE.value:
        return (EVERYONE,)
    return tuple([await other_party(caller, name, "to") for name in to.split(",") if name.strip()])


async def _answered(caller: Caller, reference: str, to: str | None) -> Message:
    message = await caller.services.mail.message(await message_of(caller, reference, "reply_to"))
    check_answerable(message, "reply_to")
    sender = message.sender.agent
    if to is not None and to.strip() != sender:
        raise Invalid("to", to, f"an answer goes to {sender}, who sent that message: leave `to` or reply_to out")
    return message


def _answer(receipt: Receipt) -> Answer:
    nobody = "Nobody else is here now, so nobody got it."
    lines = [*outcome_lines(receipt)] or [nobody]
    return Answer("\n".join(lines), outcome_data(receipt), is_error=not receipt.delivered)


SEND_MESSAGE: Final = Tool(
    name="send_message",
    description=(
        "Tell other agents something, or answer a message. They read it at their next turn; you don't wait. To ask "
        "something, use ask_agent."
    ),
    parameters=(
        Parameter("message", "all that they need to know", is_required=True),
        Parameter("to", "name of an agent, several with commas, or * for all who are here"),
        Parameter("reply_to", "number of the message that you answer, instead of `to`", Form.MESSAGE),
        Parameter("files", "paths of files to send along", Form.TEXTS),
        Parameter("approve", "only in reply to a request for approval: true or false", Form.FLAG),
    ),
    run=_run,
)
