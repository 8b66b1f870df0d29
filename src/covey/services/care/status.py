"""The status of a space: one snapshot of its agents, mail, questions, tasks, children, waits and stopped exchanges."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.directory.routing import WHOLE, Pause
from covey.core.errors import MessageDamaged
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryState, state_at
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.ledger.waits import Edge
from covey.core.names import AgentName, InboxId, MessageId, parked_inbox
from covey.core.storms.budget import Tree
from covey.core.storms.flow import StormStop
from covey.core.work.task import Task, task_at
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.ports.work import RunFilter, TaskFilter
from covey.services.children.runs import RunView, RunViews
from covey.services.directory.directory import AgentView, agents_now
from covey.services.directory.settings import pauses_of
from covey.services.mail.waits import WaitRegistry
from covey.services.storms.storms import Storms

UNSEEN: Final = frozenset({DeliveryState.QUEUED, DeliveryState.OFFERED})
"""States of a delivery without evidence that a model had it in its context."""

MOST: Final = 1000
"""Limit of the tasks, and of the children, in one status."""


class AgentStatus(NamedTuple):
    """One agent, with its mail and the answers that it owes."""

    view: AgentView
    unseen: int | None
    """The number of deliveries that wait for the agent, and that no model provably had in its context; None if the
    reader may not see the agent's mail."""
    oldest_unseen_at: datetime | None
    """The time at which the oldest of them was sent."""
    owed: Sequence[Ticket]
    """The questions that the agent has not answered, oldest first."""
    overdue: int
    """The number of these questions whose due time has passed."""
    tasks: Sequence[Task]
    """The unfinished tasks of the agent, oldest first."""
    current: Message | None
    """The message of the oldest task that the agent works on; None without one, and for a reader without the right to
    see it."""


class SpaceStatus(NamedTuple):
    """The whole space at one time."""

    at: datetime
    agents: Sequence[AgentStatus]
    """All agents, those with a live session first, then by name."""
    tasks: Sequence[Task]
    """The unfinished tasks, oldest first; at most the newest 1,000."""
    children: Sequence[RunView]
    """The children that have not ended."""
    waits: Sequence[Edge]
    """The edges of the wait graph, the oldest first; empty for the holder of an agent's token."""
    stopped: Sequence[Tree | StormStop]
    """Stopped exchanges and causal trees; empty for the holder of an agent's token."""
    pause: Pause | None
    """The pause of the whole space."""

    @property
    def owed(self) -> Sequence[Ticket]:
        """All unanswered questions, oldest first."""
        return sorted((ticket for agent in self.agents for ticket in agent.owed), key=_opened_at)


class Status:
    """Reads the status of a space. Nothing is changed by it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        liveness: Liveness,
        runs: RunViews,
        waits: WaitRegistry,
        storms: Callable[[], Storms],
        holder: Identity | None,
    ) -> None:
        """For the `holder` of an agent's token, the status has no mail and no questions of other agents, no waits and
        no stopped exchanges."""
        self._store = store
        self._clock = clock
        self._liveness = liveness
        self._runs = runs
        self._waits = waits
        self._storms = storms
        self._holder = holder

    async def read(self) -> SpaceStatus:
        """Return the status of the space as it is now."""
        now = self._clock.now()

        async def operation(tx: Transaction) -> tuple[Sequence[AgentStatus], Sequence[Task], Pause | None]:
            views = await agents_now(tx, self._liveness, now)
            found = await tx.tasks.find(TaskFilter(is_finished=False), MOST)
            tasks = [task for task in (task_at(task, now) for task in found) if not task.is_finished]
            agents = [await self._agent(tx, view, tasks, now) for view in views]
            return agents, tasks, (await pauses_of(tx)).get(WHOLE)

        agents, tasks, pause = await self._store.read(operation, is_long=True)
        runs = await self._runs.find(RunFilter(has_ended=False), MOST)
        agents = sorted(agents, key=_by_presence)
        if self._holder is not None:
            return SpaceStatus(now, agents, tasks, runs, (), (), pause)
        storms = self._storms()
        stopped = [*await storms.exchanges(), *await storms.stopped()]
        return SpaceStatus(now, agents, tasks, runs, await self._waits.graph(), stopped, pause)

    async def _agent(self, tx: Transaction, view: AgentView, tasks: Sequence[Task], now: datetime) -> AgentStatus:
        own = [task for task in tasks if task.agent == view.name]
        current = await _current(tx, own)
        if self._holder is not None and self._holder.agent != view.name:
            return AgentStatus(view, None, None, (), 0, own, current)
        sessions = await tx.sessions.of_agent(view.name)  # also those that died recently, whose mail is not moved yet
        inboxes = [parked_inbox(view.name), *(session.inbox for session in sessions)]
        counts = [await _unseen(tx, inbox, now) for inbox in inboxes]
        owed = [ticket for ticket in await tx.tickets.owed_by(view.name) if ticket.state is TicketState.OPEN]
        return AgentStatus(
            view,
            sum(count for count, _ in counts),
            min((sent_at for _, sent_at in counts if sent_at is not None), default=None),
            owed,
            sum(ticket.due_at is not None and ticket.due_at <= now for ticket in owed),
            own,
            current,
        )


async def _current(tx: Transaction, tasks: Sequence[Task]) -> Message | None:
    active = next((task for task in tasks if task.is_active), None)
    return None if active is None else await _readable(tx, active.id)


async def _readable(tx: Transaction, message_id: MessageId) -> Message | None:
    """Return a message; None if it is pruned, damaged or not for this reader. The inbox reports a damaged one."""
    try:
        return await tx.messages.get(message_id)
    except MessageDamaged:
        return None


async def _unseen(tx: Transaction, inbox: InboxId, now: datetime) -> tuple[int, datetime | None]:
    """Return the number of unseen deliveries of an inbox, and the time at which the oldest of them was sent."""
    count, after = 0, 0
    oldest: datetime | None = None
    while page := await tx.inboxes.waiting(inbox, UNSEEN, after):
        for delivery in page:
            after = delivery.seq
            if state_at(delivery, now) in UNSEEN:
                count += 1
                if oldest is None:
                    message = await _readable(tx, delivery.message_id)
                    oldest = delivery.updated_at if message is None else message.created_at
    return count, oldest


def _by_presence(status: AgentStatus) -> tuple[bool, AgentName]:
    return not status.view.sessions, status.view.name


def _opened_at(ticket: Ticket) -> datetime:
    return ticket.opened_at
