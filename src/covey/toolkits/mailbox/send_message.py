"""send_message: put a message into another agent's mailbox."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.address import Address, AddressKind
from covey.core.formats.mailbox_document import mailbox_document
from covey.core.json import Json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message
from covey.core.plain import plain_object
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.answers import as_json
from covey.toolkits.leading import led
from covey.toolkits.mailbox.parts import SCHEMA, read_callback, read_part
from covey.toolkits.others import other_agent
from covey.toolkits.references import check_answerable, message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool

POLICY: Final = SendPolicy(closes=True)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    to = await other_agent(caller, str(arguments["to"]), "to")
    reference = arguments.get("reply_to")
    answered = None if reference is None else await _answered(caller, str(reference))
    written = cast(Sequence[Json], arguments["parts"])
    callback, metadata = arguments.get("callback"), arguments.get("metadata")
    draft = Draft(
        # Sent to another agent than the sender, this passes the message on, and spends one of its hops.
        kind=Kind.RESPONSE if answered is not None and answered.sender.agent == to else Kind.NOTIFY,
        to=(Address(AddressKind.AGENT, to),),
        parts=tuple([await read_part(part, caller.services.attachments) for part in written]),
        in_reply_to=answered.id if answered else None,
        callback=None if callback is None else read_callback(callback),
        metadata={} if metadata is None else plain_object(metadata, "metadata"),
    )
    receipt = await caller.services.mail.send(await led(caller, draft), caller.identity, POLICY)
    if answered is not None:
        await was_named(caller, answered.id, SEND_MESSAGE.name)
    document = mailbox_document(await caller.services.mail.message(receipt.message_id))
    if receipt.delivered:
        state = "waits until it is back" if receipt.delivered[0].is_parked else "delivered"
        return as_json({**document, "delivery": state})
    return as_json({**document, "delivery": f"refused: {receipt.deliveries[0].reason}"}, is_error=True)


async def _answered(caller: Caller, reference: str) -> Message:
    message_id = await message_of(caller, reference, "reply_to")
    return check_answerable(await caller.services.mail.message(message_id), "reply_to")


SEND_MESSAGE: Final = Tool(
    name="send_message",
    description=(
        "Send a message to an agent's mailbox. An offline agent gets it when it is back. You don't wait: an answer is "
        "a message to you. Files are sent as they are now."
    ),
    parameters=(
        Parameter("to", "agent_id of the receiver", is_required=True),
        Parameter(
            "parts",
            "what it says: text parts with text, data parts with data, file parts with a path",
            Form.OBJECTS,
            is_required=True,
            schema=SCHEMA,
        ),
        Parameter("reply_to", "number or id of the message that you answer or pass on", Form.MESSAGE),
        Parameter("callback", "the conversation that a result belongs to: channel and session_id", Form.OBJECT),
        Parameter("metadata", "more about it, for programs", Form.OBJECT),
    ),
    run=_run,
)
