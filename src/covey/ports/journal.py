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
        """Add the event; the store gives it the next position. Positions follow the order of the commits, so that a
        reader at position p has seen everything that was committed up to p. `details` are those of the event as JSON on
        one line, if the caller has them in that form.

        Every send appends one event of a fixed form, whose JSON its caller puts together in a third of the time that a
        general encoder takes. A store that keeps text takes `details`, and any other store takes `event.details`: both
        say the same."""
        ...

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first `limit` matching events after that position, by position."""
        ...

    async def last(self) -> int:
        """Return the position of the newest event; 0 if there is none."""
        ...
