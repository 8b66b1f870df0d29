"""read_inbox: the caller's new and open messages, or one conversation."""

from collections.abc import Sequence
from typing import Final

from covey.core.attention import Pending, Terms, Ways
from covey.core.json import Json
from covey.core.render_child import child_entry
from covey.core.render_compact import compact_text
from covey.core.render_escape import harmless
from covey.core.render_task import task_entry
from covey.toolkits.given import LONGEST_WAIT, given_seconds, given_text
from covey.toolkits.native.conversation import LONGEST, conversation
from covey.toolkits.native.still_open import still_open
from covey.toolkits.read_message import START, given_start, part_answer, read_part
from covey.toolkits.references import message_of
from covey.toolkits.tasks import TASK_WAY
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool

WAYS: Final = Ways(
    more="read_inbox, again",
    rest="read_inbox(message={number}, start={next})",
    answer="send_message(reply_to=NUMBER, message=…)",
    decide="send_message(reply_to={number}, approve=true or false, message=why)",
    task=TASK_WAY,
)
TERMS: Final = Terms(budget=20_000, ways=WAYS)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    reference = given_text(arguments, "message")
    if reference is not None:
        message_id, start = await message_of(caller, reference), given_start(arguments)
        if start > 0:
            return part_answer(await read_part(caller, message_id, start, READ_INBOX.name), WAYS.rest)
        part = await read_part(caller, message_id, start, READ_INBOX.name, LONGEST)
        return await conversation(caller, part, WAYS.rest)
    pending = await _new(caller, given_seconds(arguments, "wait", 0.0))
    shown = {letter.message_id for letter in pending.letters}
    open_lines = await still_open(caller, shown)
    text = "\n".join([compact_text(pending) if pending.letters else "No new messages.", *open_lines])
    return Answer(text, _data(pending, open_lines), offer=pending.offer)


async def _new(caller: Caller, seconds: float) -> Pending:
    """Take the new mail of the caller's session, waiting for it if there is none yet. Without a session nothing is
    shown as new, because that could not be recorded."""
    if caller.identity.session is None:
        return Pending(caller.identity.agent)
    if seconds > 0:
        await caller.services.attention.look(caller.identity, TERMS, seconds)
    pending = await caller.services.attention.take(caller.identity, READ_INBOX.name, TERMS)
    return pending._replace(others=(), more_others=0)


def _data(pending: Pending, open_lines: Sequence[str]) -> dict[str, Json]:
    return {
        "new": [
            {
                "number": letter.number,
                "id": letter.message_id,
                "from": letter.sender.agent,
                "grade": str(letter.sender.grade),
                "goal": letter.goal,
                "kind": str(letter.kind),
                "expects_reply": letter.expects_reply,
                "text": harmless(letter.text),
                "is_cut": letter.is_cut,
                "start": letter.start + 1,
                "length": letter.length,
                "task": task_entry(letter),
                "child": child_entry(letter, pending.ways),
            }
            for letter in pending.letters
        ],
        "left_out": pending.left_out.messages,
        "open": list(open_lines),
        "offer": pending.offer,
    }


READ_INBOX: Final = Tool(
    name="read_inbox",
    description=(
        "Read your new messages, and see which ones still wait for you or for an answer. With `message`: read that "
        "message and its whole conversation."
    ),
    parameters=(
        Parameter("message", "number of the message to read", Form.MESSAGE),
        START,
        Parameter("wait", f"seconds, 0 to {LONGEST_WAIT:.0f}, to wait for a message if there is none", Form.NUMBER),
    ),
    run=_run,
    is_read_only=True,
)
