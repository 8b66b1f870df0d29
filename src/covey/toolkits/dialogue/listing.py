"""Messages of a dialogue as a model reads them: as many as fit, the first one always."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.dialogue_document import dialogue_document
from covey.core.json import Json
from covey.core.message import Message
from covey.core.render_escape import harmless

ROOM: Final = 48 * 1024
"""How many characters of bodies one answer holds, unless the first body alone is longer."""


def listing(entries: Sequence[tuple[Message, Mapping[str, Json]]]) -> dict[str, Json]:
    """Return messages, each with more that is known of it; what did not fit is counted."""
    shown: list[Json] = []
    room = ROOM
    for message, more in entries:
        room -= len(message.text)
        if shown and room < 0:
            break
        shown.append({**dialogue_document(message), "body": harmless(message.text), **more})
    left = len(entries) - len(shown)
    return {"messages": shown, "left_out": left} if left else {"messages": shown}
