"""A conversation as a model reads it: the messages of a thread in order, the one it asked for whole."""

from collections.abc import Iterator, Sequence
from typing import Final

from covey.core.attention_body import body_of
from covey.core.counted import counted
from covey.core.errors import CoveyError
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.message import Kind, Message
from covey.core.parts import FilePart
from covey.core.render_escape import harmless, one_line
from covey.core.times import format_instant
from covey.toolkits.tool import Answer, Caller
from covey.toolkits.wording import clipped, indented

ROOM: Final = 20_000
"""How many characters the other messages of the thread take together."""

LONGEST: Final = 80_000
"""So much is shown of the message that was asked for."""

FILE_CHARS: Final = 20_000
"""So much is shown of a file that holds text."""


async def conversation(caller: Caller, message_id: MessageId) -> Answer:
    """Show the thread of a message, and the text of the files that the message has."""
    messages = await caller.services.dialogue.thread(message_id)
    asked = next(message for message in messages if message.id == message_id)
    chosen = _chosen(messages, asked)
    left_out = len(messages) - len(chosen)
    lines = [f"{counted(left_out, 'earlier message')} left out."] if left_out else []
    for message in chosen:
        lines += _shown(message)
    files = [await _file(caller, part) for part in asked.parts if isinstance(part, FilePart)]
    data: dict[str, Json] = {"messages": [_entry(message) for message in chosen], "left_out": left_out, "files": files}
    return Answer("\n".join([*lines, *files]), data)


def _chosen(messages: Sequence[Message], asked: Message) -> Sequence[Message]:
    """Return the newest messages that have room, and the one that was asked for."""
    room = ROOM
    chosen: set[MessageId] = {asked.id}
    for message in reversed(messages):
        if message is not asked:
            room -= len(body_of(message))
            if room < 0:
                break
            chosen.add(message.id)
    return [message for message in messages if message.id in chosen]


def _shown(message: Message) -> Iterator[str]:
    to = ", ".join(one_line(address.value) for address in message.to)
    wants = ", wants an answer" if message.expects_reply else ""
    told = message.task.state if message.kind is Kind.UPDATE and message.task is not None else None
    state = f", the task is {one_line(told)}" if told is not None else ""
    yield f"{message.kind} from {message.sender} to {to} at {format_instant(message.created_at)}{wants}{state}:"
    yield indented(_text(message))
    if (length := len(body_of(message))) > LONGEST:
        yield f"[{LONGEST:,} of {length:,} characters]"


def _text(message: Message) -> str:
    return harmless(clipped(body_of(message), LONGEST))


async def _file(caller: Caller, part: FilePart) -> str:
    name = one_line(part.name)
    try:
        text = (await caller.services.attachments.content(part)).decode()
    except UnicodeDecodeError:
        return f"File {name}: {part.size:,} bytes that are no text."
    except CoveyError as error:
        return f"File {name}: {error.message}."
    cut = f", of which {FILE_CHARS:,} characters are shown" if len(text) > FILE_CHARS else ""
    return f"File {name}, {part.size:,} bytes{cut}:\n{indented(harmless(clipped(text, FILE_CHARS)))}"


def _entry(message: Message) -> Json:
    return {
        "id": message.id,
        "from": message.sender.agent,
        "grade": str(message.sender.grade),
        "kind": str(message.kind),
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "created_at": format_instant(message.created_at),
        "text": _text(message),
    }
