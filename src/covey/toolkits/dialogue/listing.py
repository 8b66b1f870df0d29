"""Messages of a dialogue for a model: as many as fit, and always the first one."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.formats.dialogue import dialogue_document
from covey.core.json import Json
from covey.core.ledger.message import Message
from covey.core.text.escape import harmless

ROOM: Final = 48 * 1024
"""The maximal number of characters of all bodies in one answer, unless the first body alone is longer."""


def listing(entries: Sequence[tuple[Message, Mapping[str, Json]]]) -> dict[str, Json]:
    """Return messages with their additional fields. Messages that did not fit are counted."""
    shown: list[Json] = []
    room = ROOM
    for message, more in entries:
        room -= len(message.text)
        if shown and room < 0:
            break
        shown.append({**dialogue_document(message), "body": harmless(message.text), **more})
    left = len(entries) - len(shown)
    return {"messages": shown, "left_out": left} if left else {"messages": shown}
