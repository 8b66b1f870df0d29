"""messages_thread: a whole reply chain."""

from typing import Final

from covey.toolkits.answers import as_json
from covey.toolkits.dialogue.listing import listing
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    message_id = await message_of(caller, str(arguments["id"]), "id")
    messages = await caller.services.dialogue.thread(message_id)
    await was_named(caller, message_id, MESSAGES_THREAD.name)
    return as_json(listing([(message, {}) for message in messages]))


MESSAGES_THREAD: Final = Tool(
    name="messages_thread",
    description="Read the whole reply chain that a message is in, causes before effects, archived ones included.",
    parameters=(Parameter("id", "id of any message of the chain", Form.MESSAGE, is_required=True),),
    run=_run,
    is_read_only=True,
)
