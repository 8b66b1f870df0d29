"""The journal in SQLite."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import from_json, record_of, to_instant, to_text
from covey.core.identity import Grade, Identity
from covey.core.json import to_json
from covey.core.ledger.event import Action, Event
from covey.ports.ledger import EventFilter

_SQL = statements("journal")
_APPEND = _SQL["append"]
_READ = _SQL["read"]
_LAST = _SQL["last"]
_ACTIONS: Final[Mapping[str, Action]] = {action.value: action for action in Action}
_GRADES: Final[Mapping[str, Grade]] = {grade.value: grade for grade in Grade}


class SqliteJournal:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def append(self, event: Event, details: str | None = None) -> None:
        actor = event.actor
        row = (
            self._access.next_number(),
            to_text(event.at),
            event.action,
            actor.agent,
            actor.session,
            actor.grade,
            event.message_id,
            event.agent,
            event.scope,
            to_json(event.details) if details is None else details,
        )
        self._access.write(_APPEND, row)

    async def read(self, after: int, limit: int, wanted: EventFilter | None = None) -> Sequence[Event]:
        if wanted is None:
            rows = self._access.read(_READ, (after, limit))
        else:
            values = (after, limit, wanted.agent, wanted.scope, wanted.action)
            if wanted.message_id is None:
                rows = self._access.read(_SQL["read_matching"], values)
            else:
                rows = self._access.read(_SQL["read_of_message"], (*values, wanted.message_id))
        return [_decode(row) for row in rows]

    async def last(self) -> int:
        return self._access.read(_LAST).get


@record_of("journal")
def _decode(row: Row) -> Event:
    position, at, action, actor, session, grade, message_id, agent, scope, details = row
    return Event(
        _ACTIONS[action],
        Identity(actor, session, _GRADES[grade]),
        to_instant(at),
        message_id,
        agent,
        scope,
        from_json(details),
        position,
    )
