"""read_message: any part of a message, in every toolkit without another way to read on in a message that was cut.

New mail that it shows counts as shown only with evidence, like any offer.
"""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.offer import Presentation
from covey.core.names import MessageId
from covey.core.text.escape import harmless
from covey.core.times import format_instant
from covey.services.attention.offers import ReadPart
from covey.toolkits.answers import indented
from covey.toolkits.arguments import given_text
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Run, Tool, ToolAnswer

PART_CHARS: Final = 20_000
"""The maximal number of characters per call."""

NAME: Final = "read_message"
REST: Final = f"{NAME}(message={{number}}, start={{next}})"
START: Final = Parameter("start", "character of its text to begin with", ParameterType.WHOLE)


def given_start(arguments: Arguments) -> int:
    """Return the start position, counted from 0."""
    value = arguments.get("start")
    if not isinstance(value, int):
        return 0
    if value < 1:
        raise Invalid("start", value, "1 is the first character")
    return value - 1


async def read_part(
    caller: Caller,
    message_id: MessageId,
    start: int,
    tool: str,
    longest: int = PART_CHARS,
    presentation: Presentation = Presentation.ONCE,
) -> ReadPart:
    """Return a part of a message that a model names. Naming it proves that the model has read what it was shown of it
    before."""
    await was_named(caller, message_id, tool)
    return await caller.services.reading.read(message_id, caller.identity, start, longest, tool, presentation)


def part_answer(part: ReadPart, rest: str) -> ToolAnswer:
    """Return a part of a message for a model, and how to read on."""
    message, extent = part.message, part.extent
    lines = [
        f"{message.kind} from {message.sender} at {format_instant(message.created_at)}, {extent}:",
        indented(harmless(part.text)),
    ]
    next_start = extent.stop + 1 if extent.stop < extent.length else None
    if next_start is not None:
        way = Instructions(rest=rest).rest.format(agent="", number=message.id, message=message.id, next=next_start)
        lines.append(f"The rest: {way}")
    data: dict[str, Json] = {
        "id": message.id,
        "from": message.sender.agent,
        "grade": str(message.sender.grade),
        "text": harmless(part.text),
        "start": extent.start + 1,
        "length": extent.length,
        "next": next_start,
        "offer": part.offer,
    }
    return ToolAnswer("\n".join(lines), data, offer=part.offer)


def _run(presentation: Presentation) -> Run:
    async def run(caller: Caller, arguments: Arguments) -> ToolAnswer:
        reference = given_text(arguments, "message")
        if reference is None:
            raise Invalid("message", None, "use the number of a message, or its id")
        message_id = await message_of(caller, reference)
        start = given_start(arguments)
        return part_answer(await read_part(caller, message_id, start, NAME, presentation=presentation), REST)

    return run


def _tool(presentation: Presentation) -> Tool:
    return Tool(
        name=NAME,
        description=(
            f"Read a whole message, {PART_CHARS:,} characters at a time: continue one that was cut at `start`. The "
            "rest also comes to you by itself."
        ),
        parameters=(
            Parameter("message", "number or id of the message", ParameterType.MESSAGE, is_required=True),
            START,
        ),
        run=_run(presentation),
        is_read_only=True,
        is_shared=True,
    )


READ_MESSAGE: Final = _tool(Presentation.ONCE)
READ_MESSAGE_AGAIN: Final = _tool(Presentation.UNTIL_HANDLED)
"""For models that are shown a message until they have handled it: reading it to its end does not handle it."""
