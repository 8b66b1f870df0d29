"""Views in SQLite: one read transaction on its own connection.

Writers continue beside a view. SQLite cannot restart the log while the view is open, so the log grows with each write.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from os import PathLike
from typing import Final

import apsw

from covey.adapters.sqlite.engine.access import Access, ConnectionCache, Execute, on_one_cursor, refuse, statements
from covey.adapters.sqlite.engine.connection import Row, absolute, connect
from covey.adapters.sqlite.engine.files import raise_explained
from covey.adapters.sqlite.records.channels import SqliteBindings, decode_post
from covey.adapters.sqlite.records.directory import SqliteAgents, SqliteTokens, decode_session
from covey.adapters.sqlite.records.journal import SqliteJournal
from covey.adapters.sqlite.records.pruning import packed, unpacked
from covey.adapters.sqlite.records.rows import decode_delivery, decode_document
from covey.adapters.sqlite.records.tickets import decode_offer, decode_ticket
from covey.adapters.sqlite.records.work import decode_run, decode_task
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
from covey.ports.views import PlacedRecord, View

_SQL = statements("views")
_STORE = statements("store")
_COUNTED: Final = [kind for kind in RecordKind if kind is not RecordKind.BLOB]


class SqliteViews:
    """Views of a store, for one thread. Never suspends."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = absolute(path)

    def view(self) -> AbstractAsyncContextManager[View]:
        return self._view()

    @asynccontextmanager
    async def _view(self) -> AsyncGenerator[View]:
        connection = connect(self._path, "normal")
        try:
            execute = on_one_cursor(connection)
            execute(_STORE["view"])
            execute(_STORE["schema"]).get  # only the first read fixes the snapshot  # noqa: B018
            yield SqliteView(execute)
        except apsw.Error as error:
            raise_explained(self._path, error)
        finally:
            connection.close()


class SqliteView:
    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        access = Access(execute, refuse, ConnectionCache())
        self._agents = SqliteAgents(access)
        self._tokens = SqliteTokens(access)
        self._bindings = SqliteBindings(access)
        self._journal = SqliteJournal(access)

    async def totals(self) -> Mapping[RecordKind, int]:
        return dict(zip(_COUNTED, self._execute(_SQL["totals"]).get, strict=True))

    async def position(self) -> int:
        return await self._journal.last()

    async def agents(self) -> Sequence[NumberedAgent]:
        numbers: dict[str, int] = dict(self._execute(_SQL["numbers"]))
        return [NumberedAgent(agent, numbers[agent.name]) for agent in await self._agents.all()]

    async def settings(self) -> Sequence[Setting]:
        return [Setting(*row) for row in self._execute(_SQL["settings"])]

    async def tokens(self) -> Sequence[Token]:
        return await self._tokens.all()

    async def events(self, after: int, limit: int) -> Sequence[Event]:
        return await self._journal.read(after, limit)

    async def sessions(self, after: int, limit: int) -> Sequence[PlacedRecord[Session]]:
        return [PlacedRecord(row[0], decode_session(row[1:])) for row in self._page("sessions", after, limit)]

    async def offers(self, after: int, limit: int) -> Sequence[PlacedRecord[Offer]]:
        return [PlacedRecord(row[0], decode_offer(row[1:])) for row in self._page("offers", after, limit)]

    async def pruned(self, after: str, limit: int) -> Sequence[MessageId]:
        start = packed(MessageId(after)) if after else b""
        return [unpacked(stored) for (stored,) in self._execute(_SQL["pruned"], (start, limit))]

    async def messages(self, after: int, limit: int) -> Sequence[PlacedRecord[FiledMessage]]:
        rows = self._page("messages", after, limit)
        return [PlacedRecord(seq, FiledMessage(decode_document(*row), swept == 1)) for seq, swept, *row in rows]

    async def tickets(self, after: int, limit: int) -> Sequence[PlacedRecord[Ticket]]:
        return [PlacedRecord(row[0], decode_ticket(row[1:])) for row in self._page("tickets", after, limit)]

    async def deliveries(self, after: int, limit: int) -> Sequence[DeliveryRecord]:
        return [decode_delivery(row) for row in self._page("deliveries", after, limit)]

    async def tasks(self, after: int, limit: int) -> Sequence[PlacedRecord[Task]]:
        return [PlacedRecord(row[0], decode_task(row[1:])) for row in self._page("tasks", after, limit)]

    async def bindings(self) -> Sequence[Binding]:
        return await self._bindings.all()

    async def posts(self, after: int, limit: int) -> Sequence[PlacedRecord[Post]]:
        return [PlacedRecord(row[0], decode_post(row[1:])) for row in self._page("posts", after, limit)]

    async def runs(self, after: int, limit: int) -> Sequence[PlacedRecord[Run]]:
        return [PlacedRecord(row[0], decode_run(row[1:])) for row in self._page("runs", after, limit)]

    def _page(self, name: str, after: int, limit: int) -> Sequence[Row]:
        return list(self._execute(_SQL[name], (after, limit)))
