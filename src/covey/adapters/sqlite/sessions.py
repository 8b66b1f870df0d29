"""Sessions in SQLite."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.connection import Row
from covey.adapters.sqlite.records import record_of
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_instant, to_instant_or_none, to_text, to_text_or_null
from covey.core.capacity import Capacity, Overflow
from covey.core.ids import SessionId
from covey.core.names import AgentName, Label
from covey.core.session import Activity, Holder, Session, SessionKind
from covey.core.session_key import SessionKey, parse_session_key

_SQL = statements("sessions")
_GET = _SQL["get"]
_OF_AGENT = _SQL["of_agent"]
_MICROSECOND: Final = timedelta(microseconds=1)


class SqliteSessions:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, session_id: SessionId) -> Session | None:
        known = self._access.known.sessions
        session = known.get(session_id)
        if session is None:
            row = self._access.read(_GET, (session_id,)).fetchone()
            if row is None:
                return None
            session = known[session_id] = decode_session(row)
        return session

    async def put(self, session: Session) -> None:
        self._access.write(_SQL["put"], _encode(session))
        self._access.change_directory()
        known = self._access.known
        known.sessions[session.id] = session
        known.sessions_of.pop(session.agent, None)

    async def of_agent(self, agent: AgentName) -> Sequence[Session]:
        known = self._access.known.sessions_of
        sessions = known.get(agent)
        if sessions is None:
            sessions = known[agent] = tuple(self._find(_OF_AGENT, agent))
        return sessions

    async def with_key(self, key: SessionKey) -> Sequence[Session]:
        return self._find(_SQL["with_key"], str(key))

    async def with_label(self, label: Label) -> Sequence[Session]:
        return self._find(_SQL["with_label"], label)

    async def current(self) -> Sequence[Session]:
        return self._find(_SQL["current"])

    def _find(self, statement: str, *values: str) -> Sequence[Session]:
        return [decode_session(row) for row in self._access.read(statement, values)]


def _encode(session: Session) -> Row:
    return (
        session.id,
        str(session.key),
        session.agent,
        session.kind,
        session.holder.lock,
        session.holder.pid,
        session.holder.started,
        session.secret_hash,
        to_text(session.joined_at),
        to_text(session.seen_at),
        session.lease // _MICROSECOND,
        session.activity,
        session.label,
        session.capacity.limit,
        session.capacity.overflow,
        to_text_or_null(session.ended_at),
        session.end_reason,
        to_text_or_null(session.hooked_at),
        session.status,
    )


@record_of("sessions")
def decode_session(row: Row) -> Session:
    """Return the session of a row."""
    (
        session_id,
        key,
        agent,
        kind,
        lock,
        pid,
        started,
        secret_hash,
        joined_at,
        seen_at,
        lease_us,
        activity,
        label,
        limit,
        overflow,
        ended_at,
        end_reason,
        hooked_at,
        status,
    ) = row
    return Session(
        session_id,
        parse_session_key(key),
        agent,
        SessionKind(kind),
        Holder(lock, pid, started),
        secret_hash,
        to_instant(joined_at),
        to_instant(seen_at),
        timedelta(microseconds=lease_us),
        Activity(activity),
        label,
        Capacity(limit, Overflow(overflow)),
        to_instant_or_none(ended_at),
        end_reason,
        to_instant_or_none(hooked_at),
        status,
    )
