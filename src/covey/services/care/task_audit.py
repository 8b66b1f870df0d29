"""Tasks and posts under audit: compared with the journal, the rules and the listings. A missing record of a task is
found by the waiting mail, and rebuilt from the message and the journal."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from covey.core.care.consistency import (
    Disagreement,
    Numbers,
    differing,
    post_faults,
    task_account,
    task_faults,
    update_faults,
)
from covey.core.care.replay import BoundConversation, Replay, rebuilt
from covey.core.channels.post import PostState
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.event import Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, Scope, SessionId, TicketId
from covey.core.work.task import Task, TaskState
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction
from covey.ports.work import TaskFilter
from covey.services.records import known_message
from covey.services.tasks.open_tasks import parent_of


class TicketTotals(NamedTuple):
    """Tickets that are not closed, by debtor, asker and scope."""

    by: dict[AgentName, set[TicketId]]
    to: dict[AgentName, set[TicketId]]
    scope: dict[Scope, set[TicketId]]


class TaskTotals(NamedTuple):
    """Unfinished tasks, by the agent or session that has them or is to have them."""

    pending: dict[AgentName, set[MessageId]]
    held: dict[AgentName, set[MessageId]]
    of_session: dict[SessionId, set[MessageId]]


class AuditTotals:
    def __init__(self) -> None:
        self.waiting: dict[InboxId, dict[DeliveryId, int]] = {}
        """For each inbox, the waiting deliveries with their seq."""
        self.queued: Counter[InboxId] = Counter()
        self.inboxes: set[InboxId] = set()
        """Every inbox that any delivery names."""
        self.owed = TicketTotals({}, {}, {})
        self.scopes: set[Scope] = set()
        self.numbers: Numbers = {}
        self.tasks = TaskTotals({}, {}, {})

    def enter_delivery(self, delivery: DeliveryRecord) -> None:
        """Count one delivery."""
        self.inboxes.add(delivery.inbox)
        if delivery.state in WAITING:
            self.waiting.setdefault(delivery.inbox, {})[delivery.id] = delivery.seq
        if delivery.state is DeliveryState.QUEUED:
            self.queued[delivery.inbox] += 1

    def enter_ticket(self, ticket: Ticket) -> None:
        """Count one ticket."""
        if ticket.scope is not None:
            self.scopes.add(ticket.scope)
        if ticket.state is TicketState.CLOSED:
            return
        self.owed.by.setdefault(ticket.debtor, set()).add(ticket.id)
        self.owed.to.setdefault(ticket.asker, set()).add(ticket.id)
        if ticket.scope is not None:
            self.owed.scope.setdefault(ticket.scope, set()).add(ticket.id)

    def enter_task(self, task: Task) -> None:
        """Count one task."""
        if task.is_held:
            self.tasks.held.setdefault(task.agent, set()).add(task.id)
        elif task.state is TaskState.PENDING:
            self.tasks.pending.setdefault(task.agent, set()).add(task.id)
        if task.claimed_by is not None:
            self.tasks.of_session.setdefault(task.claimed_by, set()).add(task.id)


RECENT: Final = 10_000
"""The number of newest tasks that are looked up in the journal; damage from a crash is among them."""


async def message_task_faults(
    tx: Transaction, replay: Replay, books: AuditTotals, message: Message, copies: Sequence[DeliveryRecord]
) -> AsyncIterator[Disagreement]:
    """Examine the task that a message hands over, or check that there is none."""
    task, account = await tx.tasks.get(message.id), replay.tasks.get(message.id)
    if task is None:
        is_open = any(copy.state in WAITING and copy.agent is not None for copy in copies)
        if account is not None and (is_open or not account.is_untouched):
            yield Disagreement("task", message.id, "a record, because it was delegated", "none")
        return
    books.enter_task(task)
    for fault in (
        *differing("task", task.id, account, task_account(task)),
        *task_faults(task, message, copies),
    ):
        yield fault
    for what, update_id in (("progress", task.progress), ("result", task.result)):
        async for fault in _update(tx, task, what, update_id):
            yield fault
    if task.parent is not None and await _is_lost(tx, task.parent):
        yield Disagreement("parent", task.id, f"a task {task.parent}", "none")


async def message_post_faults(
    tx: Transaction, replay: Replay, copies: Sequence[DeliveryRecord]
) -> AsyncIterator[Disagreement]:
    """Examine the posts of a message's deliveries."""
    for copy in copies:
        post, state = await tx.posts.get(copy.id), replay.posts.get(copy.id)
        if post is None and state is None:
            continue
        for fault in differing("post", copy.id, state or PostState.PENDING, post and post.state):
            yield fault
        for fault in post_faults(post, copy) if post is not None else ():
            yield fault


async def task_listing_faults(tx: Transaction, replay: Replay, books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that pending and held tasks are listed under their agents and sessions, and that every recent task is in
    the journal."""
    held: list[str] = []
    for agent in sorted(replay.agents):
        pending, mine = books.tasks.pending.get(agent, set()), books.tasks.held.get(agent, set())
        for fault in (
            *differing(
                "pending tasks of", agent, sorted(pending), _ids(await tx.tasks.pending(agent, len(pending) + 1))
            ),
            *differing("held tasks of", agent, sorted(mine), _ids(await tx.tasks.held(agent))),
        ):
            yield fault
        held += mine
    for fault in differing("held tasks", "space", sorted(held), _ids(await tx.tasks.all_held())):
        yield fault
    for session_id, account in replay.sessions.items():
        expected = () if account.has_ended else books.tasks.of_session.get(session_id, ())
        for fault in differing("tasks of", session_id, sorted(expected), _ids(await tx.tasks.of_session(session_id))):
            yield fault
    for task in await tx.tasks.find(TaskFilter(), RECENT):
        if task.id not in replay.tasks:
            yield Disagreement("event", task.id, "an event for its delegation", "none")


async def binding_faults(tx: Transaction, replay: Replay, _books: AuditTotals) -> AsyncIterator[Disagreement]:
    """Check that every bound conversation is in the journal."""
    for binding in await tx.bindings.all():
        if BoundConversation(binding.channel, binding.conversation, binding.to.value) not in replay.bound:
            name = f"{binding.channel} {binding.conversation!r}"
            yield Disagreement("binding", name, "an event for it", binding.to.value)


async def _update(tx: Transaction, task: Task, what: str, update_id: MessageId | None) -> AsyncIterator[Disagreement]:
    update = await tx.messages.get(update_id) if update_id is not None else None
    if update_id is None or (update is None and await tx.pruned.has(update_id)):
        return  # a long thread is pruned in parts, newest first
    for fault in update_faults(task, what, update):
        yield fault


async def _is_lost(tx: Transaction, task_id: MessageId) -> bool:
    return await tx.tasks.get(task_id) is None and not await tx.pruned.has(task_id)


def _ids(tasks: Sequence[Task]) -> list[str]:
    return sorted(task.id for task in tasks)


PAGE = 500


async def unrecorded(tx: Transaction) -> AsyncIterator[DeliveryRecord]:
    """Iterate over the waiting deliveries of tasks that have no record. The cost grows with the waiting mail."""
    for inbox in await tx.inboxes.occupied():
        after = 0
        while page := await tx.inboxes.waiting(inbox, WAITING, after):
            after = page[-1].seq
            for delivery in page:
                if is_task(delivery) and await tx.tasks.get(delivery.message_id) is None:
                    yield delivery


def is_task(delivery: DeliveryRecord) -> bool:
    """Tell whether a delivery waits and hands a task over to an agent. Such a task has a record."""
    return delivery.kind is Kind.TASK and delivery.state in WAITING and delivery.agent is not None


async def record_task(tx: Transaction, delivery: DeliveryRecord) -> None:
    """Rebuild the missing record of a task. No event is journalled, because nothing new has happened."""
    if delivery.agent is None or await tx.tasks.get(delivery.message_id) is not None:
        return
    message = await known_message(tx, delivery.message_id)
    events = [event async for event in _events(tx, EventFilter(message_id=message.id))]
    await tx.tasks.put(rebuilt(message, delivery.agent, await parent_of(tx, message), events))


async def _events(tx: Transaction, wanted: EventFilter) -> AsyncIterator[Event]:
    after = 0
    while page := await tx.journal.read(after, PAGE, wanted):
        for event in page:
            yield event
        after = page[-1].position
