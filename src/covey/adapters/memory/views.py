"""Views in memory: copies of all lists at the start of the view. Records are immutable and are not copied."""

import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import islice
from typing import TypeVar, cast

from covey.adapters.memory.store import MemoryStore, MemoryTransaction
from covey.core.channels.post import Binding, Post
from covey.core.directory.session import Session
from covey.core.formats.portable import FiledMessage, NumberedAgent, RecordKind, Setting
from covey.core.identity import Token
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.names import MessageId
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.ports.views import PlacedRecord, View

R = TypeVar("R")


class MemoryViews:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def view(self) -> AbstractAsyncContextManager[View]:
        return self._view()

    @asynccontextmanager
    async def _view(self) -> AsyncGenerator[View]:
        yield await self._store.read(_copy)


class MemoryView:
    def __init__(
        self, tables: MemoryTransaction, events: Sequence[Event], tokens: Sequence[Token], bindings: Sequence[Binding]
    ) -> None:
        self._agents = [NumberedAgent(*numbered) for numbered in tables.agents.numbers()]
        self._settings = [Setting(*setting) for setting in tables.settings.all()]
        self._tokens = tokens
        self._events = events
        self._sessions = _placed(tables.sessions.table.from_number(0))
        self._offers = _placed(tables.offers.table.from_number(0))
        self._pruned = tables.pruned.all()
        self._messages = _placed((n, FiledMessage(*filed)) for n, filed in tables.messages.filed.from_number(0))
        self._tickets = _placed(tables.tickets.table.from_number(0))
        self._deliveries = sorted(tables.deliveries.table.all(), key=lambda delivery: delivery.seq)
        self._tasks = _placed(tables.tasks.table.from_number(0))
        self._bindings = bindings
        self._posts = _placed(tables.posts.table.from_number(0))
        self._runs = _placed(tables.runs.table.from_number(0))

    async def totals(self) -> Mapping[RecordKind, int]:
        return {
            RecordKind.AGENT: len(self._agents),
            RecordKind.SETTING: len(self._settings),
            RecordKind.TOKEN: len(self._tokens),
            RecordKind.EVENT: len(self._events),
            RecordKind.SESSION: len(self._sessions),
            RecordKind.OFFER: len(self._offers),
            RecordKind.PRUNED: len(self._pruned),
            RecordKind.MESSAGE: len(self._messages),
            RecordKind.TICKET: len(self._tickets),
            RecordKind.DELIVERY: len(self._deliveries),
            RecordKind.TASK: len(self._tasks),
            RecordKind.BINDING: len(self._bindings),
            RecordKind.POST: len(self._posts),
            RecordKind.RUN: len(self._runs),
        }

    async def position(self) -> int:
        return self._events[-1].position if self._events else 0

    async def agents(self) -> Sequence[NumberedAgent]:
        return self._agents

    async def settings(self) -> Sequence[Setting]:
        return self._settings

    async def tokens(self) -> Sequence[Token]:
        return self._tokens

    async def events(self, after: int, limit: int) -> Sequence[Event]:
        return list(islice((event for event in self._events if event.position > after), limit))

    async def sessions(self, after: int, limit: int) -> Sequence[PlacedRecord[Session]]:
        return _page(self._sessions, after, limit)

    async def offers(self, after: int, limit: int) -> Sequence[PlacedRecord[Offer]]:
        return _page(self._offers, after, limit)

    async def pruned(self, after: str, limit: int) -> Sequence[MessageId]:
        return list(islice((message_id for message_id in self._pruned if message_id > after), limit))

    async def messages(self, after: int, limit: int) -> Sequence[PlacedRecord[FiledMessage]]:
        return _page(self._messages, after, limit)

    async def tickets(self, after: int, limit: int) -> Sequence[PlacedRecord[Ticket]]:
        return _page(self._tickets, after, limit)

    async def deliveries(self, after: int, limit: int) -> Sequence[DeliveryRecord]:
        return list(islice((delivery for delivery in self._deliveries if delivery.seq > after), limit))

    async def tasks(self, after: int, limit: int) -> Sequence[PlacedRecord[Task]]:
        return _page(self._tasks, after, limit)

    async def bindings(self) -> Sequence[Binding]:
        return self._bindings

    async def posts(self, after: int, limit: int) -> Sequence[PlacedRecord[Post]]:
        return _page(self._posts, after, limit)

    async def runs(self, after: int, limit: int) -> Sequence[PlacedRecord[Run]]:
        return _page(self._runs, after, limit)


async def _copy(transaction: Transaction) -> MemoryView:
    tables = cast(MemoryTransaction, transaction)
    events = await tables.journal.read(0, sys.maxsize)
    return MemoryView(tables, events, await tables.tokens.all(), await tables.bindings.all())


def _placed(numbered: Iterable[tuple[int, R]]) -> Sequence[PlacedRecord[R]]:
    return [PlacedRecord(number, record) for number, record in numbered]


def _page(placed: Sequence[PlacedRecord[R]], after: int, limit: int) -> Sequence[PlacedRecord[R]]:
    return list(islice((item for item in placed if item.place > after), limit))
