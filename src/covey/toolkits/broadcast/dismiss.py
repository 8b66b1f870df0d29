"""dismiss: handle a message without a reply."""

from typing import Final

from covey.toolkits.broadcast.inbox import waiting_with
from covey.toolkits.references import was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    number = arguments["id"]
    assert isinstance(number, int)
    delivery = await waiting_with(caller, number)
    if isinstance(delivery, Answer):
        return delivery
    await caller.services.mail.settle(delivery.message_id, caller.identity, "dismissed")
    await was_named(caller, delivery.message_id, DISMISS.name)
    owed = f" {delivery.sender} still waits for an answer." if delivery.expects_reply else ""
    return Answer(
        f"Marked as handled: #{number} from {delivery.sender}{owed and '.'}{owed}",
        {"handled": {"id": number, "from": delivery.sender}},
    )


DISMISS: Final = Tool(
    name="dismiss",
    description="Take a message that needs no reply out of your inbox. Its sender is not told.",
    parameters=(Parameter("id", "id (number) of the message", Form.WHOLE, is_required=True),),
    run=_run,
)
