"""Views: a space as it was at one moment, all of it, for those who take everything along."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic, NamedTuple, Protocol, TypeVar

from covey.core.binding import Binding
from covey.core.delivery import Delivery
from covey.core.event import Event
from covey.core.ids import MessageId
from covey.core.offer import Offer
from covey.core.portable import FiledMessage, NumberedAgent, RecordKind, Setting
from covey.core.post import Post
from covey.core.run import Run
from covey.core.session import Session
from covey.core.task import Task
from covey.core.ticket import Ticket
from covey.core.token import Token

R = TypeVar("R")


class Placed(NamedTuple, Generic[R]):
    """A record, and its place among those of its kind: what to ask for the next ones after."""

    place: int
    record: R


class View(Protocol):
    """Every record of a space that means something elsewhere: trees, flows and waits do not. What others write
    meanwhile is not seen; they are not kept from writing.

    What there may be much of is given in pages: the first `limit` records whose place is over `after`, 0 at first.
    Records stand in the order in which they were first put, deliveries in that of their seq, events by position.
    """

    async def totals(self) -> Mapping[RecordKind, int]:
        """Return how many records of each kind there are; contents of files are not among them."""
        ...

    async def position(self) -> int:
        """Return the position of the newest event, 0 where there is none."""
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

    async def sessions(self, after: int, limit: int) -> Sequence[Placed[Session]]:
        """Return sessions, ended or not."""
        ...

    async def offers(self, after: int, limit: int) -> Sequence[Placed[Offer]]:
        """Return offers, ended or not."""
        ...

    async def pruned(self, after: str, limit: int) -> Sequence[MessageId]:
        """Return the first `limit` ids of messages that were pruned and whose id comes after that one ("" at first), in
        their order."""
        ...

    async def messages(self, after: int, limit: int) -> Sequence[Placed[FiledMessage]]:
        """Return messages in the order of acceptance."""
        ...

    async def tickets(self, after: int, limit: int) -> Sequence[Placed[Ticket]]:
        """Return tickets, closed or not."""
        ...

    async def deliveries(self, after: int, limit: int) -> Sequence[Delivery]:
        """Return deliveries; their seq is their place."""
        ...

    async def tasks(self, after: int, limit: int) -> Sequence[Placed[Task]]:
        """Return tasks, finished or not."""
        ...

    async def bindings(self) -> Sequence[Binding]:
        """Return every binding, by channel, then by conversation."""
        ...

    async def posts(self, after: int, limit: int) -> Sequence[Placed[Post]]:
        """Return posts, done with or not."""
        ...

    async def runs(self, after: int, limit: int) -> Sequence[Placed[Run]]:
        """Return runs, ended or not."""
        ...


class Views(Protocol):
    """Where views of one space come from."""

    def view(self) -> AbstractAsyncContextManager[View]:
        """Return a view that holds at least all that was committed before it is entered, and lasts until it is left.
        The engine keeps what it needs for as long, so nobody holds one longer than it takes."""
        ...
