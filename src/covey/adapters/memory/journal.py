"""The journal in memory: a list, ordered by position."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

from covey.adapters.memory.table import UndoLog
from covey.core.ledger.event import Event
from covey.ports.ledger import EventFilter


class MemoryJournal:
    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._events: list[Event] = []
        self._given = 0

    async def append(self, event: Event, details: str | None = None) -> None:
        del details  # only stores that write JSON need the encoded text
        self._log.record(self._drop_last)
        # An undone commit leaves a gap; a position is never given twice.
        self._given += 1
        self._events.append(event._replace(position=self._given))

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        later = islice(self._events, bisect_right(self._events, after, key=_position), None)
        return tuple(islice((e for e in later if wanted is None or _fits(e, wanted)), limit))

    async def last(self) -> int:
        return self._events[-1].position if self._events else 0

    def remove(self, is_gone: Callable[[Event], bool]) -> int:
        """Remove the events for which `is_gone` is true; return their number."""
        left = [event for event in self._events if not is_gone(event)]
        removed = len(self._events) - len(left)
        self._log.record(partial(self._restore, self._events))
        self._events = left
        return removed

    def _drop_last(self) -> None:
        del self._events[-1]

    def _restore(self, events: list[Event]) -> None:
        self._events = events


def _position(event: Event) -> int:
    return event.position


def _fits(event: Event, wanted: EventFilter) -> bool:
    return (
        (wanted.message_id is None or event.message_id == wanted.message_id)
        and (wanted.agent is None or wanted.agent in (event.agent, event.actor.agent))
        and (wanted.scope is None or event.scope == wanted.scope)
        and (wanted.action is None or event.action is wanted.action)
    )
