"""Views: a consistent snapshot of a whole space, for exports."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic, NamedTuple, Protocol, TypeVar

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

R = TypeVar("R")


class PlacedRecord(NamedTuple, Generic[R]):
    """A record with its place among those of its kind, which is the cursor for the next page."""

    place: int
    record: R


class View(Protocol):
    """Every record of a space that has a meaning elsewhere: not trees, flows and waits. A view does not show later
    writes, and does not block them.

    Large collections are returned in pages: the first `limit` records whose place is over `after`, 0 at first. Records
    are in the order in which they were first put, deliveries in the order of their seq, events by position.
    """

    async def totals(self) -> Mapping[RecordKind, int]:
        """Return the number of records of each kind, without contents of files."""
        ...

    async def position(self) -> int:
        """Return the position of the newest event; 0 if there is none."""
        ...

    async def agents(self) -> Sequence[NumberedAgent]:
        """Return every agent, by name."""
        ...

    async def settings(self) -> Sequence[Setting]:
        """Return every setting, by name."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Return every token, oldest first."""
        ...

    async def events(self, after: int, limit: int) -> Sequence[Event]:
        """Return events; their position is their place."""
        ...

    async def sessions(self, after: int, limit: int) -> Sequence[PlacedRecord[Session]]:
        """Return sessions, ended or not."""
        ...

    async def offers(self, after: int, limit: int) -> Sequence[PlacedRecord[Offer]]:
        """Return offers, ended or not."""
        ...

    async def pruned(self, after: str, limit: int) -> Sequence[MessageId]:
        """Return the first `limit` ids of pruned messages that are greater than `after` ("" at first), sorted."""
        ...

    async def messages(self, after: int, limit: int) -> Sequence[PlacedRecord[FiledMessage]]:
        """Return messages in the order of acceptance."""
        ...

    async def tickets(self, after: int, limit: int) -> Sequence[PlacedRecord[Ticket]]:
        """Return tickets, closed or not."""
        ...

    async def deliveries(self, after: int, limit: int) -> Sequence[DeliveryRecord]:
        """Return deliveries; their seq is their place."""
        ...

    async def tasks(self, after: int, limit: int) -> Sequence[PlacedRecord[Task]]:
        """Return tasks, finished or not."""
        ...

    async def bindings(self) -> Sequence[Binding]:
        """Return every binding, by channel, then by conversation."""
        ...

    async def posts(self, after: int, limit: int) -> Sequence[PlacedRecord[Post]]:
        """Return posts, pending or not."""
        ...

    async def runs(self, after: int, limit: int) -> Sequence[PlacedRecord[Run]]:
        """Return runs, ended or not."""
        ...


class Views(Protocol):
    """The source of views of one space."""

    def view(self) -> AbstractAsyncContextManager[View]:
        """Return a view that has at least everything that was committed before it is entered, and lasts until it is
        left. The engine retains old data as long as a view is open, so callers must leave it soon."""
        ...
