"""Pruning in memory, by full scans."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from covey.adapters.memory.channels import MemoryPosts
from covey.adapters.memory.ledger import MemoryDeliveries, MemoryJournal, MemoryMessages, MemoryOffers, MemoryTickets
from covey.adapters.memory.table import Table, UndoLog
from covey.adapters.memory.work import MemoryRuns, MemoryTasks
from covey.core.channels.post import PostState
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import MessageId, OfferId, Scope, delivery_message
from covey.core.work.run import Run, RunId
from covey.core.work.task import Task
from covey.ports.pruning import Page, RemovedCounts, ThreadState


class MemoryRetentionQueries:
    def __init__(
        self,
        messages: MemoryMessages,
        deliveries: MemoryDeliveries,
        tickets: MemoryTickets,
        tasks: MemoryTasks,
        posts: MemoryPosts,
        runs: MemoryRuns,
    ) -> None:
        self._messages = messages
        self._deliveries = deliveries
        self._tickets = tickets
        self._tasks = tasks
        self._posts = posts
        self._runs = runs

    async def scopes(self, after: str, limit: int) -> Sequence[Scope]:
        scopes = {filed.message.scope for filed in self._messages.filed.all() if filed.message.scope is not None}
        return sorted(scope for scope in scopes if scope > after)[:limit]

    async def threads(self, scope: Scope | None, before: datetime, after: int, limit: int) -> Page[MessageId]:
        def fits(message: Message) -> bool:
            return message.scope == scope and message.created_at < before

        page = list(islice(((n, message) for n, message in self._numbered(after) if fits(message)), limit))
        threads = dict.fromkeys(message.thread for _, message in page)
        return Page(tuple(threads), page[-1][0] if page and len(page) == limit else None)

    async def state(self, thread: MessageId) -> ThreadState | None:
        messages = await self._messages.thread(thread)
        if not messages:
            return None
        deliveries = [copy for message in messages for copy in self._deliveries.table.on(("message", message.id))]
        tickets = [ticket for message in messages for ticket in self._tickets.table.on(("message", message.id))]
        tasks = [task for message in messages if (task := self._tasks.table.get(message.id)) is not None]
        runs = [run for message in messages for run in self._runs.table.on(("request", message.id))]
        times = (
            *(message.created_at for message in messages),
            *_delivery_times(deliveries),
            *_ticket_times(tickets),
            *(task.updated_at for task in tasks),
            *(run.ended_at or run.started_at for run in runs),
        )
        return ThreadState(
            messages=len(messages),
            waiting=sum(_is_waiting(copy, self._posts) for copy in deliveries),
            owed=sum(ticket.state is not TicketState.CLOSED for ticket in tickets),
            last_at=max(times),
            scopes=frozenset(message.scope for message in messages if message.scope is not None),
            tasks=len(tasks),
            unfinished=sum(not all(t.is_finished for t in self._line(task)) for task in tasks),
            runs=len(runs),
            running=sum(not run.is_done_with for run in runs),
        )

    async def newest(self, thread: MessageId, limit: int) -> Sequence[MessageId]:
        return [message.id for message in await self._messages.thread(thread)][::-1][:limit]

    async def unasked(self, before: datetime, limit: int) -> Sequence[Run]:
        old = (run for run in self._runs.table.all() if run.ended_at is not None and run.ended_at < before)
        return [*islice((run for run in old if is_unasked(run, self._messages)), limit)]

    async def files(self, after: int, limit: int) -> Page[str]:
        numbered = ((n, digests) for n, message in self._numbered(after) if (digests := _digests(message)))
        page = list(islice(numbered, limit))
        distinct = dict.fromkeys(digest for _, digests in page for digest in digests)
        return Page(tuple(distinct), page[-1][0] if page and len(page) == limit else None)

    def _line(self, task: Task) -> Iterator[Task]:
        """Yield a task, all tasks above it, and all its parts, direct and indirect."""
        parent = self._tasks.table.get(task.parent) if task.parent is not None else None
        while parent is not None:
            yield parent
            parent = self._tasks.table.get(parent.parent) if parent.parent is not None else None
        ahead = [task]
        while ahead:
            yield (each := ahead.pop())
            ahead.extend(self._tasks.table.on(("children", each.id)))

    def _numbered(self, after: int) -> Iterator[tuple[int, Message]]:
        return ((number, filed.message) for number, filed in self._messages.filed.from_number(after))


class MemoryPruned:
    def __init__(
        self,
        log: UndoLog,
        messages: MemoryMessages,
        deliveries: MemoryDeliveries,
        tickets: MemoryTickets,
        tasks: MemoryTasks,
        posts: MemoryPosts,
        runs: MemoryRuns,
        offers: MemoryOffers,
        journal: MemoryJournal,
    ) -> None:
        self._ids = Table[MessageId, MessageId](log)
        self._messages = messages
        self._deliveries = deliveries
        self._tickets = tickets
        self._tasks = tasks
        self._posts = posts
        self._runs = runs
        self._offers = offers
        self._journal = journal

    async def has(self, message_id: MessageId) -> bool:
        return self._ids.get(message_id) is not None

    async def count(self) -> int:
        return len(self._ids.all())

    async def remember(self, message_ids: Sequence[MessageId]) -> None:
        for message_id in message_ids:
            self._ids.put(message_id, message_id)

    def all(self) -> Sequence[MessageId]:
        """Return every id, sorted."""
        return sorted(self._ids.all())

    async def remove(self, message_ids: Sequence[MessageId]) -> RemovedCounts:
        deliveries = tickets = tasks = posts = children = 0
        for message_id in message_ids:
            copies = self._deliveries.table.on(("message", message_id))
            debts = self._tickets.table.on(("message", message_id))
            task = self._tasks.table.get(message_id)
            runs = self._runs.table.on(("request", message_id))
            is_running = any(not run.is_done_with for run in runs)
            is_owed = any(debt.state is not TicketState.CLOSED for debt in debts)
            is_awaited = any(_is_waiting(copy, self._posts) for copy in copies)
            is_unfinished = task is not None and not task.is_finished
            is_open = is_owed or is_awaited or is_unfinished or is_running
            if is_open or self._messages.filed.get(message_id) is None:
                raise LookupError(f"message {message_id} is open, or does not exist")
            for copy in copies:
                self._deliveries.table.remove(copy.id)
                if self._posts.table.get(copy.id) is not None:
                    self._posts.table.remove(copy.id)
                    posts += 1
            for debt in debts:
                self._tickets.table.remove(debt.id)
            if task is not None:
                self._tasks.table.remove(message_id)
                tasks += 1
            for run in runs:
                self._runs.table.remove(run.id)
            self._messages.filed.remove(message_id)
            self._ids.put(message_id, message_id)
            deliveries += len(copies)
            tickets += len(debts)
            children += len(runs)
        gone = frozenset(message_ids)
        events = self._journal.remove(lambda event: event.message_id in gone)
        return RemovedCounts(len(gone), deliveries, tickets, 0, events, tasks, posts, children)

    async def remove_runs(self, run_ids: Sequence[RunId]) -> RemovedCounts:
        runs = [run for run_id in run_ids if (run := self._runs.table.get(run_id)) is not None]
        if len(runs) < len(run_ids) or not all(is_unasked(run, self._messages) for run in runs):
            raise LookupError("a run has not ended, has a request, or does not exist")
        for run in runs:
            self._runs.table.remove(run.id)
        requests = {run.request for run in runs}
        return RemovedCounts(runs=len(runs), events=self._journal.remove(lambda event: event.message_id in requests))

    async def remove_offers(self, after: int, limit: int) -> tuple[RemovedCounts, int | None]:
        page = await self._journal.read(after, limit)
        offers = 0
        for event in page:
            offer = self._offers.table.get(_offer_of(event) or OfferId(""))
            if event.action is Action.OFFER_MADE and offer is not None and self._is_empty(offer):
                self._offers.table.remove(offer.id)
                offers += 1
        last = page[-1].position if page else after
        events = self._journal.remove(lambda event: after < event.position <= last and self._is_gone(event))
        return RemovedCounts(offers=offers, events=events), last if page and len(page) == limit else None

    def _is_empty(self, offer: Offer) -> bool:
        shown = (self._messages.filed.get(delivery_message(delivery)) for delivery in offer.deliveries)
        return offer.ended_at is not None and not any(shown)

    def _is_gone(self, event: Event) -> bool:
        offer_id = _offer_of(event)
        return offer_id is not None and self._offers.table.get(offer_id) is None


def is_unasked(run: Run, messages: MemoryMessages) -> bool:
    """Tell whether a run is done with, and its request is not in the store."""
    return run.is_done_with and messages.filed.get(run.request) is None


def _is_waiting(copy: DeliveryRecord, posts: MemoryPosts) -> bool:
    """Tell whether a delivery still waits in an inbox, or still has to be posted."""
    post = posts.table.get(copy.id)
    return copy.state in WAITING or (post is not None and post.state is PostState.PENDING)


def _offer_of(event: Event) -> OfferId | None:
    offer_id = event.details.get("offer")
    return OfferId(offer_id) if isinstance(offer_id, str) else None


def _digests(message: Message) -> Sequence[str]:
    return [part.digest for part in message.parts if isinstance(part, FilePart)]


def _delivery_times(deliveries: Sequence[DeliveryRecord]) -> Iterator[datetime]:
    for copy in deliveries:
        yield copy.updated_at
        if copy.archived_at is not None:
            yield copy.archived_at


def _ticket_times(tickets: Sequence[Ticket]) -> Iterator[datetime]:
    for ticket in tickets:
        yield ticket.opened_at
        if ticket.closed_at is not None:
            yield ticket.closed_at
