"""Traffic: the messages between agents, counted by sender and recipient, and a thread with its open questions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.identity import Grade
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import AgentName, MessageId
from covey.ports.clock import Clock
from covey.ports.ledger import MessageFilter
from covey.ports.store import Store, Transaction
from covey.services.mail.current_state import tickets_by_now
from covey.services.records import known_message

MOST: Final = 10_000
"""Maximum number of messages in one count: the newest ones."""


class TrafficEdge(NamedTuple):
    """The messages of one agent to another."""

    sender: AgentName
    recipient: AgentName
    messages: int
    open: int
    """The number of questions that the recipient has not answered and that are still open."""
    answered: int
    """The number of questions that the recipient has answered."""
    last_at: datetime
    """The time of the newest message."""


class TrafficGraph(NamedTuple):
    edges: Sequence[TrafficEdge]
    """All edges, by sender and recipient."""
    messages: int
    """The number of counted messages."""
    is_complete: bool
    """False if there are older messages that were not counted."""


class ThreadMessage(NamedTuple):
    """A message of a thread, with the debts of its recipients."""

    message: Message
    tickets: Sequence[Ticket]


class Traffic:
    """Reads the messages between agents. For the holder of an agent's token, these are the holder's own messages."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def graph(self, since: datetime | None = None, most: int = MOST) -> TrafficGraph:
        """Count the newest messages, of any time or since a time.

        A message counts once for each agent that received it. Refused copies and notices of the space do not count.
        """

        async def operation(tx: Transaction) -> TrafficGraph:
            found = await tx.messages.find(MessageFilter(since=since), most + 1)
            counted = found[max(0, len(found) - most) :]
            edges: dict[tuple[AgentName, AgentName], TrafficEdge] = {}
            for message in counted:
                if message.sender.grade is not Grade.SPACE:
                    await self._add(tx, edges, message)
            return TrafficGraph([edges[key] for key in sorted(edges)], len(counted), len(found) <= most)

        return await self._store.read(operation, is_long=True)

    async def thread(self, message_id: MessageId) -> Sequence[ThreadMessage]:
        """Return the whole thread of a message, causes before effects, each message with its questions."""

        async def operation(tx: Transaction) -> Sequence[ThreadMessage]:
            message = await known_message(tx, message_id)
            return [
                ThreadMessage(each, await self._tickets(tx, each)) for each in await tx.messages.thread(message.thread)
            ]

        return await self._store.read(operation, is_long=True)

    async def _add(
        self, tx: Transaction, edges: dict[tuple[AgentName, AgentName], TrafficEdge], message: Message
    ) -> None:
        sender = message.sender.agent
        tickets = {ticket.debtor: ticket for ticket in await self._tickets(tx, message)}
        copies = await tx.deliveries.of_message(message.id)
        for agent in sorted({copy.agent for copy in copies if copy.agent and copy.state is not DeliveryState.REFUSED}):
            edge = edges.get((sender, agent)) or TrafficEdge(sender, agent, 0, 0, 0, message.created_at)
            ticket = tickets.get(agent)
            edges[sender, agent] = edge._replace(
                messages=edge.messages + 1,
                open=edge.open + (ticket is not None and ticket.state is TicketState.OPEN),
                answered=edge.answered + (ticket is not None and ticket.answer is not None),
                last_at=max(edge.last_at, message.created_at),
            )

    async def _tickets(self, tx: Transaction, message: Message) -> Sequence[Ticket]:
        if not message.expects_reply:
            return ()
        return await tickets_by_now(tx, await tx.tickets.of_message(message.id), self._clock.now())
