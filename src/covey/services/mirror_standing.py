"""Standing: the copies of messages as the ledger wants them in the folder, read a page at a time."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from covey.core.delivery import Delivery
from covey.core.ids import MessageId, ticket_id
from covey.core.layout import Copy, Layout, Shelf
from covey.core.message import Message
from covey.core.names import AgentName
from covey.core.standing import standing
from covey.ports.store import Transaction
from covey.services.mirror_ground import Ground

LONG: Final = 20
"""Reading more messages than this takes a while."""


class Standing(NamedTuple):
    """What there is of one message for one agent."""

    message: Message
    agent: AgentName
    copies: tuple[Delivery, ...]
    shelf: Shelf | None
    """None for no file."""
    is_only: bool
    """Whether no other agent has a copy."""
    task: Message | None
    """What handed over the task that it is about."""
    document: str | None = None
    """The message as it was filed a moment ago; None where it is older, and may have files."""


class Filed(NamedTuple):
    """A message that is new, and not swept, with all its deliveries."""

    message: Message
    document: str
    copies: tuple[Delivery, ...]


class Shown:
    """What a part of a pass has seen, so that the next one need not look again."""

    def __init__(self) -> None:
        self._seen: dict[MessageId, list[Standing]] = {}
        self._copies: dict[tuple[MessageId, AgentName], Copy] = {}

    def add(self, standing: Standing) -> None:
        self._seen.setdefault(standing.message.id, []).append(standing)

    def copy(self, standing: Standing, copy: Copy) -> Copy:
        """Keep a copy as foreign programs know it, and return it."""
        self._copies[standing.message.id, standing.agent] = copy
        return copy

    async def of(self, ground: Ground, message_id: MessageId) -> Sequence[Standing]:
        """Return how the copies of a message stand."""
        seen = self._seen.get(message_id)
        return await read_standing(ground, [message_id]) if seen is None else seen

    def copied(self, standing: Standing) -> Copy | None:
        return self._copies.get((standing.message.id, standing.agent))


async def read_standing(ground: Ground, messages: Sequence[MessageId]) -> Sequence[Standing]:
    """Return how the copies of these messages should stand. What is not in the ledger stands nowhere."""

    async def operation(tx: Transaction) -> Sequence[Standing]:
        found: list[Standing] = []
        for message_id in messages:
            found += await standing_of(tx, ground.layout, message_id)
        return found

    return await ground.store.read(operation, is_long=len(messages) > LONG)


async def standing_of(
    tx: Transaction, layout: Layout, message_id: MessageId, filed: Filed | None = None
) -> Iterable[Standing]:
    """Return the same for one message, of which everything may be known."""
    message = filed.message if filed is not None else await tx.messages.get(message_id)
    if message is None:
        return ()
    by_agent: dict[AgentName, list[Delivery]] = {}
    for copy in filed.copies if filed is not None else await tx.deliveries.of_message(message_id):
        if copy.agent is not None:  # a session that nobody has registered has no folder
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
