"""Messages, deliveries, inboxes, tasks and runs as the holder of an agent's token sees them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NoReturn

from covey.core.authority import is_involved, is_party, may_read, part_of, seen_by, sees_copy
from covey.core.errors import BeyondToken
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import (
    AgentName,
    DeliveryId,
    InboxId,
    MessageId,
    Scope,
    SessionId,
    Subject,
    TicketId,
    inbox_session,
    ticket_id,
)
from covey.core.work.run import Run, RunId
from covey.core.work.task import Task
from covey.ports.ledger import EventFilter, MessageFilter
from covey.ports.store import Transaction
from covey.ports.work import RunFilter, TaskFilter

WIDER = 4
"""The factor by which a search grows if too few of its results are visible."""


class ScopedMessages:
    """The messages that the holder sent or received; all others are hidden."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, message_id: MessageId) -> Message | None:
        message = await self._tx.messages.get(message_id)
        return message if message is not None and await self._is_own(message) else None

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        return await self._own(await self._tx.messages.thread(thread))

    async def find(self, wanted: MessageFilter, limit: int) -> Sequence[Message]:
        asked = limit
        while True:
            found = await self._tx.messages.find(wanted, asked)
            own = await self._own(found)
            if len(own) >= limit or len(found) < asked:
                return own[max(0, len(own) - limit) :]
            asked *= WIDER

    async def latest_of(self, pair: str) -> Message | None:
        message = await self._tx.messages.latest_of(pair)
        return message if message is not None and await self._is_own(message) else None

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        _refuse_writing()

    async def is_swept(self, message_id: MessageId) -> bool:
        return await self.get(message_id) is not None and await self._tx.messages.is_swept(message_id)

    async def sweep(self, scope: Scope) -> int:
        _refuse_writing()

    async def _own(self, messages: Sequence[Message]) -> Sequence[Message]:
        return [message for message in messages if await self._is_own(message)]

    async def _is_own(self, message: Message) -> bool:
        return may_read(self._holder.agent, message, await self._tx.deliveries.of_message(message.id))


class ScopedDeliveries:
    """All copies of messages that the holder sent, and its own copies of messages it received."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, delivery_id: DeliveryId) -> DeliveryRecord | None:
        delivery = await self._tx.deliveries.get(delivery_id)
        return delivery if delivery is not None and sees_copy(self._holder.agent, delivery) else None

    async def of_message(self, message_id: MessageId) -> Sequence[DeliveryRecord]:
        return self._seen(await self._tx.deliveries.of_message(message_id))

    async def unsettled_in(self, scope: Scope) -> Sequence[DeliveryRecord]:
        return self._seen(await self._tx.deliveries.unsettled_in(scope))

    async def handled(self, agent: AgentName, number: int) -> Sequence[DeliveryRecord]:
        return self._seen(await self._tx.deliveries.handled(agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[DeliveryRecord]:
        """Return the lapsed deliveries of all agents: every active program does upkeep of the space, and checks here
        whether it is due."""
        return await self._tx.deliveries.lapsed(now, limit)

    async def place(self, delivery: DeliveryRecord) -> DeliveryRecord:
        _refuse_writing()

    async def put(self, delivery: DeliveryRecord) -> None:
        _refuse_writing()

    def _seen(self, deliveries: Sequence[DeliveryRecord]) -> Sequence[DeliveryRecord]:
        return [delivery for delivery in deliveries if sees_copy(self._holder.agent, delivery)]


class ScopedInboxes:
    """The holder's own inboxes: its parked mail, and its sessions."""

    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[DeliveryRecord]:
        return await self._tx.inboxes.waiting(inbox, states, after, limit) if await self._is_own(inbox) else ()

    async def queued(self, inbox: InboxId) -> int:
        return await self._tx.inboxes.queued(inbox) if await self._is_own(inbox) else 0

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> DeliveryRecord | None:
        return await self._tx.inboxes.oldest(inbox, kinds) if await self._is_own(inbox) else None

    async def alike(
        self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject
    ) -> Sequence[DeliveryRecord]:
        return await self._tx.inboxes.alike(inbox, sender, scope, subject) if await self._is_own(inbox) else ()

    async def occupied(self) -> Sequence[InboxId]:
        raise BeyondToken(self._holder.agent, "list inboxes")

    async def _is_own(self, inbox: InboxId) -> bool:
        """Tell whether an inbox is the holder's; False if it has no owner. Raise BeyondToken for another agent's
        inbox."""
        session_id = inbox_session(inbox)
        if session_id is None:
            owner = await self._tx.agents.get(AgentName(inbox.partition(":")[2]))
            name = owner.name if owner else None
        else:
            session = await self._tx.sessions.get(session_id)
            name = session.agent if session else None
        if name not in (None, self._holder.agent):
            raise BeyondToken(self._holder.agent, f"read the inbox of {name}")
        return name is not None


def _refuse_writing() -> NoReturn:
    raise RuntimeError("a read can't write: use commit")


PAGE: Final = 500


class ScopedJournal:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._agent = holder.agent

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        found: list[Event] = []
        while len(found) < limit and (page := await self._tx.journal.read(after, PAGE, wanted)):
            found.extend([seen for event in page if (seen := await self._seen(event)) is not None])
            after = page[-1].position
        return found[:limit]

    async def last(self) -> int:
        return await self._tx.journal.last()

    async def append(self, event: Event, details: str | None = None) -> None:
        raise RuntimeError("a read can't write: use commit")

    async def _seen(self, event: Event) -> Event | None:
        if self._agent in (event.actor.agent, event.agent):
            return event
        if event.message_id is None:
            return await self._of_several(event)
        message = await self._tx.messages.get(event.message_id)
        if message is None:
            return None
        if message.sender.agent == self._agent:
            return event
        return await self._of_several(event) if event.action is Action.MESSAGE_SENT else None

    async def _of_several(self, event: Event) -> Event | None:
        """Return the part of an event that is about the holder's mail, for an event about several deliveries."""
        listed = event.details.get("deliveries")
        copies = [await self._copy(item) for item in listed] if isinstance(listed, list | tuple) else []
        seen = [copy for copy in copies if copy is not None and sees_copy(self._agent, copy)]
        own = {ticket_id(copy.message_id, self._agent) for copy in seen}
        return part_of(event, {copy.id for copy in seen}, own) if seen else None

    async def _copy(self, item: Json) -> DeliveryRecord | None:
        return await self._tx.deliveries.get(DeliveryId(str(item.get("id") if isinstance(item, dict) else item)))


class ScopedTickets:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, ticket_id: TicketId) -> Ticket | None:
        ticket = await self._tx.tickets.get(ticket_id)
        return ticket if ticket is not None and is_party(self._holder.agent, ticket) else None

    async def of_message(self, message_id: MessageId) -> Sequence[Ticket]:
        return self._own(await self._tx.tickets.of_message(message_id))

    async def owed_in(self, scope: Scope) -> Sequence[Ticket]:
        """Return all of them: a gate that counted only some would pass with open debts."""
        return seen_by(self._holder, await self._tx.tickets.owed_in(scope))

    async def owed_by(self, agent: AgentName) -> Sequence[Ticket]:
        self._check(agent)
        return await self._tx.tickets.owed_by(agent)

    async def owed_to(self, agent: AgentName) -> Sequence[Ticket]:
        self._check(agent)
        return await self._tx.tickets.owed_to(agent)

    async def awaiting(self, ticket_id: TicketId) -> Sequence[Ticket]:
        return self._own(await self._tx.tickets.awaiting(ticket_id))

    async def debtors(self) -> Sequence[AgentName]:
        raise BeyondToken(self._holder.agent, "list debts")

    async def put(self, ticket: Ticket) -> None:
        raise RuntimeError("a read can't write: use commit")

    def _own(self, tickets: Sequence[Ticket]) -> Sequence[Ticket]:
        return [ticket for ticket in tickets if is_party(self._holder.agent, ticket)]

    def _check(self, agent: AgentName) -> None:
        if agent != self._holder.agent:
            raise BeyondToken(self._holder.agent, f"list the debts of {agent}")


class ScopedRuns:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, run_id: RunId) -> Run | None:
        return self._own(await self._tx.runs.get(run_id))

    async def put(self, run: Run) -> None:
        raise RuntimeError("a read can't write: use commit")

    async def of_session(self, session_id: SessionId) -> Run | None:
        return self._own(await self._tx.runs.of_session(session_id))

    async def children(self, session_id: SessionId) -> Sequence[Run]:
        return [run for run in await self._tx.runs.children(session_id) if self._is_own(run)]

    async def alive(self, parent_agent: AgentName) -> int:
        return await self._tx.runs.alive(parent_agent)

    async def untold(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.untold(limit)

    async def uncleared(self, limit: int) -> Sequence[Run]:
        return await self._tx.runs.uncleared(limit)

    async def find(self, wanted: RunFilter, limit: int) -> Sequence[Run]:
        """Return the holder's runs, as parent or as child."""
        me = self._holder.agent
        started = (
            await self._tx.runs.find(wanted._replace(parent_agent=me), limit)
            if wanted.parent_agent in (None, me)
            else ()
        )
        own = await self._tx.runs.find(wanted._replace(agent=me), limit) if wanted.agent in (None, me) else ()
        both = {run.id: run for run in (*started, *own)}
        return sorted(both.values(), key=lambda run: (run.started_at, run.id))[-limit:]

    def _own(self, run: Run | None) -> Run | None:
        return run if run is not None and self._is_own(run) else None

    def _is_own(self, run: Run) -> bool:
        return self._holder.agent in (run.agent, run.parent_agent)


class ScopedTasks:
    def __init__(self, tx: Transaction, holder: Identity) -> None:
        self._tx = tx
        self._holder = holder

    async def get(self, task_id: MessageId) -> Task | None:
        task = await self._tx.tasks.get(task_id)
        return task if task is not None and is_involved(self._holder.agent, task) else None

    async def put(self, task: Task) -> None:
        raise RuntimeError("a read can't write: use commit")

    async def pending(self, agent: AgentName, limit: int) -> Sequence[Task]:
        self._check(agent)
        return await self._tx.tasks.pending(agent, limit)

    async def held(self, agent: AgentName) -> Sequence[Task]:
        """Return all held tasks: the load of an agent is visible to everyone."""
        return await self._tx.tasks.held(agent)

    async def places(self, agent: AgentName) -> int:
        return await self._tx.tasks.places(agent)

    async def left(self, agent: AgentName, limit: int) -> Sequence[Task]:
        self._check(agent)
        return await self._tx.tasks.left(agent, limit)

    async def all_held(self) -> Sequence[Task]:
        return await self._tx.tasks.all_held()

    async def of_session(self, session_id: SessionId) -> Sequence[Task]:
        return self._own(await self._tx.tasks.of_session(session_id))

    async def due(self, now: datetime, limit: int) -> Sequence[Task]:
        return await self._tx.tasks.due(now, limit)

    async def untold(self, limit: int) -> Sequence[Task]:
        return await self._tx.tasks.untold(limit)

    async def children(self, task_id: MessageId) -> Sequence[Task]:
        return self._own(await self._tx.tasks.children(task_id))

    async def find(self, wanted: TaskFilter, limit: int) -> Sequence[Task]:
        """Return the holder's tasks, as delegator or as doer."""
        me = self._holder.agent
        given = (
            await self._tx.tasks.find(wanted._replace(delegator=me), limit) if wanted.delegator in (None, me) else ()
        )
        to_do = await self._tx.tasks.find(wanted._replace(agent=me), limit) if wanted.agent in (None, me) else ()
        both = {task.id: task for task in self._own((*given, *to_do))}
        return sorted(both.values(), key=lambda task: task.id)[-limit:]

    def _own(self, tasks: Sequence[Task]) -> Sequence[Task]:
        return [task for task in tasks if is_involved(self._holder.agent, task)]

    def _check(self, agent: AgentName) -> None:
        if agent != self._holder.agent:
            raise BeyondToken(self._holder.agent, f"list the tasks of {agent}")
