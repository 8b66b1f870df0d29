"""The journal: an append-only record of everything that happened, in the transaction that made it happen."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from covey.core.event import Action, Event
from covey.core.ids import MessageId
from covey.core.names import AgentName, Scope


class EventFilter(NamedTuple):
    """Which events to read; what is None does not matter."""

    message_id: MessageId | None = None
    agent: AgentName | None = None
    """Acted, or is concerned."""
    scope: Scope | None = None
    action: Action | None = None


class Journal(Protocol):
    """Events by position. Nothing is ever changed; only pruning removes any, and leaves a tombstone."""

    async def append(self, event: Event, details: str | None = None) -> None:
        """Add the event; the store gives it the next position. Positions follow the order of the commits, so that a
        reader at position p has seen everything that was committed up to p. `details` are those of the event as JSON on
        one line, if the caller has them in that form.

        Every send appends one event of a fixed form, whose JSON its caller puts together in a third of the time that a
        general encoder takes. A store that keeps text takes `details`, and any other store takes `event.details`: both
        say the same."""
        ...

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        """Return the first `limit` events after that position that fit, by position."""
        ...

    async def last(self) -> int:
        """Return the position of the newest event, 0 where there is none."""
        ...
