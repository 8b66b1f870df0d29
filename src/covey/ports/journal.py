"""The journal: an append-only log of all changes, each written in the transaction that makes it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.event import Action, Event
from covey.core.ids import MessageId
from covey.core.names import AgentName, Scope


class EventFilter(NamedTuple):
    """A filter for events. Fields that are None match everything."""

    message_id: MessageId | None = None
    agent: AgentName | None = None
    """The agent that acted, or that the event concerns."""
    scope: Scope | None = None
    action: Action | None = None


class Journal(Protocol):
    """Events by position. Events never change. Only pruning removes events, and it leaves a tombstone."""

    async def append(self, event: Event, details: str | None = None) -> None:
        """Add the event at the next position. Positions follow the order of the commits, so that a reader at position p
        has seen everything that was committed up to p. A caller that has the event's details as JSON on one line passes
        them as `details`."""
        ...

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first `limit` matching events after that position, by position."""
        ...

    async def last(self) -> int:
        """Return the position of the newest event; 0 if there is none."""
        ...
