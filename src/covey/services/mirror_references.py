"""References: the messages that a foreign program's id may mean."""

from collections.abc import Sequence
from contextlib import suppress

from covey.core.errors import Invalid
from covey.core.ids import MessageId, parse_message_id
from covey.core.message import Message
from covey.core.names import AgentName
from covey.ports.folder import Visit
from covey.ports.store import Transaction


async def messages_called(visit: Visit, name: str | None, sender: AgentName) -> Sequence[MessageId]:
    """Return the messages that a sender may mean by an id, the likeliest first: those it received itself, those that
    others received, and the one with that id here."""
    if not name:
        return ()
    known = await visit.known(name)
    found = [one.message_id for one in known if one.agent == sender] + [one.message_id for one in known]
    with suppress(Invalid):
        found.append(parse_message_id(name))
    return tuple(dict.fromkeys(found))


async def first_message(tx: Transaction, ids: Sequence[MessageId]) -> Message | None:
    """Return the first of these messages that exists."""
    for message_id in ids:
        message = await tx.messages.get(message_id)
        if message is not None:
            return message
    return None
