"""The journal in memory: a list, whose indexes are the positions."""

from collections.abc import Sequence
from itertools import islice

from covey.adapters.memory.undo import UndoLog
from covey.core.event import Event
from covey.ports.journal import EventFilter


class MemoryJournal:
    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._events: list[Event] = []

    async def append(self, event: Event) -> None:
        self._log.record(self._drop_last)
        self._events.append(event._replace(position=len(self._events) + 1))

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        later = islice(self._events, max(after, 0), None)
        return tuple(islice((e for e in later if wanted is None or _fits(e, wanted)), limit))

    async def last(self) -> int:
        return len(self._events)

    def _drop_last(self) -> None:
        del self._events[-1]


def _fits(event: Event, wanted: EventFilter) -> bool:
    return (
        (wanted.message_id is None or event.message_id == wanted.message_id)
        and (wanted.agent is None or wanted.agent in (event.agent, event.actor.agent))
        and (wanted.scope is None or event.scope == wanted.scope)
        and (wanted.action is None or event.action is wanted.action)
    )
