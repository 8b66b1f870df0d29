"""Agents, sessions, tokens and settings in SQLite."""

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.mail import next_number
from covey.adapters.sqlite.records.rows import (
    from_json,
    record_of,
    to_instant,
    to_instant_or_none,
    to_text,
    to_text_or_null,
)
from covey.core.directory.card import Agent, Capacity, Card, Overflow, encode_card, parse_card
from covey.core.directory.session import Activity, Holder, Session, SessionKind
from covey.core.identity import SessionKey, Token, parse_session_key
from covey.core.json import to_json
from covey.core.names import AgentName, Label, SessionId

_AGENTS = statements("agents")
_GET_AGENT = _AGENTS["get"]


class SqliteAgents:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, name: AgentName) -> Agent | None:
        known = self._access.known.agents
        agent = known.get(name)
        if agent is None:
            row = self._access.read(_GET_AGENT, (name,)).fetchone()
            if row is None:
                return None
            agent = known[name] = _decode_agent(row)
        return agent

    async def put(self, agent: Agent) -> None:
        row = (agent.name, to_json(encode_card(agent.card)), to_text(agent.registered_at), agent.status)
        self._access.write(_AGENTS["put"], row)
        self._access.change_directory()
        self._access.known.agents[agent.name] = agent

    async def all(self) -> Sequence[Agent]:
        return [_decode_agent(row) for row in self._access.read(_AGENTS["all"])]

    async def next_number(self, name: AgentName, count: int = 1) -> int:
        return next_number(self._access, name, count)


@record_of("agents")
def _decode_agent(row: Row) -> Agent:
    name, card, registered_at, status = row
    return Agent(name, _card(card), to_instant(registered_at), status)


@lru_cache(maxsize=256)
def _card(text: str) -> Card:
    return parse_card(from_json(text))


_SESSIONS = statements("sessions")
_GET_SESSION = _SESSIONS["get"]
_OF_AGENT = _SESSIONS["of_agent"]
_MICROSECOND: Final = timedelta(microseconds=1)


class SqliteSessions:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, session_id: SessionId) -> Session | None:
        known = self._access.known.sessions
        session = known.get(session_id)
        if session is None:
            row = self._access.read(_GET_SESSION, (session_id,)).fetchone()
            if row is None:
                return None
            session = known[session_id] = decode_session(row)
        return session

    async def put(self, session: Session) -> None:
        self._access.write(_SESSIONS["put"], _encode(session))
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
        return self._find(_SESSIONS["with_key"], str(key))

    async def with_label(self, label: Label) -> Sequence[Session]:
        return self._find(_SESSIONS["with_label"], label)

    async def current(self) -> Sequence[Session]:
        return self._find(_SESSIONS["current"])

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


_TOKENS = statements("tokens")
_SETTINGS = statements("settings")


class SqliteTokens:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, token_hash: str) -> Token | None:
        row = self._access.read(_TOKENS["get"], (token_hash,)).fetchone()
        return None if row is None else _decode_token(row)

    async def put(self, token: Token) -> None:
        instants = to_text(token.created_at), to_text_or_null(token.revoked_at), to_text_or_null(token.used_at)
        created_at, revoked_at, used_at = instants
        self._access.write(_TOKENS["put"], (token.hash, token.agent, created_at, revoked_at, token.note, used_at))

    async def all(self) -> Sequence[Token]:
        return [_decode_token(row) for row in self._access.read(_TOKENS["all"])]


class SqliteSettings:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, name: str) -> str | None:
        known = self._access.known.settings
        if name not in known:
            row = self._access.read(_SETTINGS["get"], (name,)).fetchone()
            known[name] = None if row is None else row[0]
        return known[name]

    async def put(self, name: str, value: str) -> None:
        self._access.write(_SETTINGS["put"], (name, value))
        self._access.change_directory()
        self._access.known.settings[name] = value


@record_of("tokens")
def _decode_token(row: Row) -> Token:
    token_hash, agent, created_at, revoked_at, note, used_at = row
    revoked, used = to_instant_or_none(revoked_at), to_instant_or_none(used_at)
    return Token(token_hash, agent, to_instant(created_at), revoked, note, used)
