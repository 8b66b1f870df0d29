"""Standing: the target state of messages' copies in the folder, read a page at a time."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from covey.core.formats.layout import Copy, Layout, Shelf, standing
from covey.core.ids import MessageId, ticket_id
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.services.mirror.ground import Ground

LONG: Final = 20
"""Reading more messages than this is a long read."""


class Standing(NamedTuple):
    """The copies of one message for one agent."""

    message: Message
    agent: AgentName
    copies: tuple[Delivery, ...]
    shelf: Shelf | None
    """None for no file."""
    is_only: bool
    """True if no other agent has a copy."""
    task: Message | None
    """The message that handed over the task that this one is about."""
    document: str | None = None
    """The encoded message if it was filed in this commit; None if it is older, and may have files."""


class Filed(NamedTuple):
    """A new message that is not swept, with all its deliveries."""

    message: Message
    document: str
    copies: tuple[Delivery, ...]


class Shown:
    """A cache of the copies that one part of a pass has read, for the next part."""

    def __init__(self) -> None:
        self._seen: dict[MessageId, list[Standing]] = {}
        self._copies: dict[tuple[MessageId, AgentName], Copy] = {}

    def add(self, standing: Standing) -> None:
        self._seen.setdefault(standing.message.id, []).append(standing)

    def copy(self, standing: Standing, copy: Copy) -> Copy:
        """Cache a copy with its foreign names, and return it."""
        self._copies[standing.message.id, standing.agent] = copy
        return copy

    async def of(self, ground: Ground, message_id: MessageId) -> Sequence[Standing]:
        """Return the target states of a message's copies."""
        seen = self._seen.get(message_id)
        return await read_standing(ground, [message_id]) if seen is None else seen

    def copied(self, standing: Standing) -> Copy | None:
        return self._copies.get((standing.message.id, standing.agent))


async def read_standing(ground: Ground, messages: Sequence[MessageId]) -> Sequence[Standing]:
    """Return the target states of the copies of these messages. A message that is not in the ledger has none."""

    async def operation(tx: Transaction) -> Sequence[Standing]:
        found: list[Standing] = []
        for message_id in messages:
            found += await standing_of(tx, ground.layout, message_id)
        return found

    return await ground.store.read(operation, is_long=len(messages) > LONG)


async def standing_of(
    tx: Transaction, layout: Layout, message_id: MessageId, filed: Filed | None = None
) -> Iterable[Standing]:
    """Return the target states of one message's copies. `filed` has its records, if they are known already."""
    message = filed.message if filed is not None else await tx.messages.get(message_id)
    if message is None:
        return ()
    by_agent: dict[AgentName, list[Delivery]] = {}
    for copy in filed.copies if filed is not None else await tx.deliveries.of_message(message_id):
        if copy.agent is not None:  # an unregistered session has no folder
            by_agent.setdefault(copy.agent, []).append(copy)
    is_swept = filed is None and await tx.messages.is_swept(message_id)
    task = await tx.messages.get(MessageId(message.task.id)) if message.task is not None else None
    document = filed.document if filed is not None else None
    found: list[Standing] = []
    for agent, copies in by_agent.items():
        if await tx.agents.get(agent) is None:
            continue
        ticket = await tx.tickets.get(ticket_id(message_id, agent)) if message.expects_reply else None
        shelf = standing(layout, copies, ticket, is_swept=is_swept)
        found.append(Standing(message, agent, tuple(copies), shelf, len(by_agent) == 1, task, document))
    return found
