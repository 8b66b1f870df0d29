"""Access to one connection: the SQL of this package, the statements on one cursor, the cache and the counters.

The SQL is in files with named statements, which are read once when the module that uses them is imported. The cache is
kept from one transaction to the next, until another connection has written.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, Protocol

import apsw

from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.names import AgentName, InboxId, MessageId, SessionId

# No pathlib: it and importlib.resources cost a short-lived process several milliseconds.


SQL_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "sql")
MIGRATIONS_FOLDER: Final = os.path.join(SQL_FOLDER, "migrations")

_NAME: Final = "-- name: "


@cache
def statements(group: str) -> Mapping[str, str]:
    """Return the statements of sql/<group>.sql by name, each on one line and without its comment."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _read(os.path.join(SQL_FOLDER, f"{group}.sql")).splitlines():
        if line.startswith(_NAME):
            lines = found.setdefault(line.removeprefix(_NAME).strip(), [])
        elif line and not line.startswith("--"):
            lines.append(line.strip())
    # apsw looks statements up by their text each time, and short texts are faster.
    return {name: " ".join(parts) for name, parts in found.items()}


def groups() -> Sequence[str]:
    """Return the names of all groups of statements."""
    return sorted(name.removesuffix(".sql") for name in os.listdir(SQL_FOLDER) if name.endswith(".sql"))


def migration_names(folder: str = MIGRATIONS_FOLDER) -> Sequence[str]:
    """Return the names of the migrations that this version knows, in the order in which they are applied."""
    return sorted(name.removesuffix(".sql") for name in os.listdir(folder) if name.endswith(".sql"))


def migration(name: str, folder: str = MIGRATIONS_FOLDER) -> str:
    """Return the text of a migration."""
    return _read(os.path.join(folder, f"{name}.sql"))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


MAX_KNOWN: Final = 10_000
"""Limit of cached agents, sessions, settings and inboxes, for each kind. Above the limit the whole cache is dropped."""

_versions: Final = count()


class ConnectionCache:
    """Agents, sessions and settings as last read, and the counters."""

    __slots__ = (
        "agents",
        "changes",
        "directory",
        "directory_version",
        "last",
        "numbered",
        "queued",
        "sessions",
        "sessions_of",
        "settings",
        "unwritten",
        "version",
    )

    def __init__(self) -> None:
        self.agents: dict[AgentName, Agent] = {}
        self.sessions: dict[SessionId, Session] = {}
        self.sessions_of: dict[AgentName, Sequence[Session]] = {}
        self.settings: dict[str, str | None] = {}
        """Settings as last read. None means that the store has no such setting."""
        self.numbered: dict[AgentName, int] = {}
        """The last number that was given to a message, by recipient agent."""
        self.queued: dict[InboxId, int] = {}
        """Count of queued deliveries, by inbox."""
        self.last: int | None = None
        """The last number of an event or a placed delivery. None means that the number must be read from the store."""
        self.unwritten: dict[AgentName | InboxId, bool] = {}
        """Counters that have changed and are not written yet. The value is True for an agent's counter."""
        self.changes = 0
        """Number of changes of the counters."""
        self.version = 0
        """SQLite's number for the commits of other connections."""
        self.directory_version = -1
        """Number of the view that the transaction sees. The number changes when the transaction changes an agent, a
        session or a setting."""
        self.directory: int | None = None
        """Number of changes of agents, sessions and settings at the last read. None means that the number must be read
        from the store."""

    def at(self, version: int, directory: Callable[[], int]) -> None:
        """Begin a transaction, with a new directory version. If no other connection has written since the last
        transaction, keep the cache. Otherwise drop the counters, and keep agents, sessions and settings only if the
        number that `directory` reads is unchanged."""
        self.move_on()
        if max(len(self.agents), len(self.sessions), len(self.settings), len(self.queued)) > MAX_KNOWN:
            self.forget()
        if version != self.version:
            self._forget_counts()
            changes = directory()
            if changes != self.directory:
                self._forget_directory()
                self.directory = changes
            self.version = version

    def move_on(self) -> None:
        """Start a new directory version."""
        self.directory_version = next(_versions)

    def forget(self) -> None:
        """Drop the whole cache, because a write was undone."""
        self.move_on()
        self._forget_counts()
        self._forget_directory()
        self.directory = None

    def _forget_counts(self) -> None:
        self.numbered.clear()
        self.queued.clear()
        self.unwritten.clear()
        self.last = None

    def _forget_directory(self) -> None:
        self.agents.clear()
        self.sessions.clear()
        self.sessions_of.clear()
        self.settings.clear()


_SQL = statements("store")
_LAST = _SQL["last"]
_DIRECTORY = _SQL["directory"]
_CHANGE_DIRECTORY = _SQL["change_directory"]


class Execute(Protocol):
    """Runs statements on one cursor. Fetch the rows of a statement before running the next one."""

    def __call__(self, statement: str, values: tuple[Any, ...] = (), /) -> apsw.Cursor: ...


def on_one_cursor(connection: apsw.Connection) -> Execute:
    """Return a callable that runs statements on one cursor. A new cursor for each statement would cost more than many
    statements do."""
    cursor: Any = connection.cursor()  # the types that apsw declares for values are not known to every type checker
    return cursor.execute


class Access:
    __slots__ = ("filed", "known", "read", "write")

    def __init__(self, read: Execute, write: Execute, known: ConnectionCache) -> None:
        self.read = read
        self.write = write
        self.known = known
        self.filed: list[MessageId] = []
        """Messages that the current transaction has filed."""

    def next_number(self) -> int:
        """Return a number greater than all numbers given before, for an event or a placed delivery."""
        known = self.known
        last = known.last
        if last is None:
            last = int(self.read(_LAST).get)
        known.last = last = last + 1
        return last

    def begin(self, version: int) -> None:
        """Begin a transaction. `version` is SQLite's number for the commits of other connections."""
        self.filed.clear()
        self.known.at(version, self._directory)

    def change_directory(self) -> None:
        """Count a change of an agent, a session or a setting, so that other connections drop their cached directory."""
        self.write(_CHANGE_DIRECTORY)
        self.known.directory = None
        self.known.move_on()

    def _directory(self) -> int:
        return int(self.read(_DIRECTORY).get)


def refuse(_statement: str, _values: tuple[Any, ...] = (), /) -> apsw.Cursor:
    """Stand in for `write` on a connection that may only read."""
    raise RuntimeError("a read can't write: use commit")
