"""messages_archive: archive a message. A request must have been answered."""

from typing import Final

from covey.core.errors import NotAnswered
from covey.toolkits.answers import as_json, refused
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    message_id = await message_of(caller, str(arguments["id"]), "id")
    try:
        await caller.services.dialogue.archive(message_id, caller.identity)
    except NotAnswered as error:
        return refused(error, f"Answer it first: messages_send(kind=response, in_reply_to={message_id}, …).")
    await was_named(caller, message_id, MESSAGES_ARCHIVE.name)
    return as_json({"archived": message_id})


MESSAGES_ARCHIVE: Final = Tool(
    name="messages_archive",
    description="Put away a message that you have dealt with. A request that expects a reply must be answered first.",
    parameters=(Parameter("id", "id of the message", Form.MESSAGE, is_required=True),),
    run=_run,
)
