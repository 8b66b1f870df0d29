"""A conversation for a model: the messages of a thread in order, with the requested one in full."""

from collections.abc import Iterator, Sequence
from typing import Final

from covey.core.errors import CoveyError
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.ledger.body import body_of
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.text.escape import harmless, one_line
from covey.core.text.wording import counted
from covey.core.times import format_instant
from covey.services.attention.reading import ReadPart
from covey.toolkits.tool import Answer, Caller
from covey.toolkits.wording import clipped, indented

ROOM: Final = 20_000
"""The maximal number of characters of the other messages of the thread together."""

LONGEST: Final = 80_000
"""The maximal number of characters of the requested message."""

FILE_CHARS: Final = 20_000
"""The maximal number of characters of a text file."""


async def conversation(caller: Caller, part: ReadPart, rest: str) -> Answer:
    """Show the thread of a message, the part of the message that was read, and the text of its files. `rest` tells how
    to read on."""
    asked = part.message
    messages = await caller.services.dialogue.thread(asked.id)
    chosen = _chosen(messages, asked)
    left_out = len(messages) - len(chosen)
    lines = [f"{counted(left_out, 'earlier message')} left out."] if left_out else []
    for message in chosen:
        lines += _shown(message, part.text if message.id == asked.id else body_of(message))
    if part.extent.stop < part.extent.length:
        way = rest.format(agent="", number=asked.id, message=asked.id, next=part.extent.stop + 1)
        lines.append(f"Of {asked.id}: {part.extent}. The rest: {way}")
    files = [await _file(caller, file) for file in asked.parts if isinstance(file, FilePart)]
    entries = [_entry(message, part.text if message.id == asked.id else body_of(message)) for message in chosen]
    data: dict[str, Json] = {"messages": entries, "left_out": left_out, "files": files, "offer": part.offer}
    return Answer("\n".join([*lines, *files]), data, offer=part.offer)


def _chosen(messages: Sequence[Message], asked: Message) -> Sequence[Message]:
    """Return the newest messages that fit, and the requested one."""
    room = ROOM
    chosen: set[MessageId] = {asked.id}
    for message in reversed(messages):
        if message.id != asked.id:
            room -= len(body_of(message))
            if room < 0:
                break
            chosen.add(message.id)
    return [message for message in messages if message.id in chosen]


def _shown(message: Message, body: str) -> Iterator[str]:
    to = ", ".join(one_line(address.value) for address in message.to)
    wants = ", wants an answer" if message.expects_reply else ""
    told = message.task.state if message.kind is Kind.UPDATE and message.task is not None else None
    state = f", the task is {one_line(told)}" if told is not None else ""
    yield f"{message.kind} from {message.sender} to {to} at {format_instant(message.created_at)}{wants}{state}:"
    yield indented(harmless(body))


async def _file(caller: Caller, part: FilePart) -> str:
    name = one_line(part.name)
    try:
        text = (await caller.services.attachments.content(part)).decode()
    except UnicodeDecodeError:
        return f"File {name}: {part.size:,} bytes that are no text."
    except CoveyError as error:
        return f"File {name}: {one_line(error.message)}."
    cut = f", of which {FILE_CHARS:,} characters are shown" if len(text) > FILE_CHARS else ""
    return f"File {name}, {part.size:,} bytes{cut}:\n{indented(harmless(clipped(text, FILE_CHARS)))}"


def _entry(message: Message, body: str) -> Json:
    return {
        "id": message.id,
        "from": message.sender.agent,
        "grade": str(message.sender.grade),
        "kind": str(message.kind),
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "created_at": format_instant(message.created_at),
        "text": harmless(body),
    }
