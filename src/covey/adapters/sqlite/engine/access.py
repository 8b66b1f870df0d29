"""Access to one connection, shared by its records: reads, writes, the cache and the counters."""

from typing import Any, Protocol

import apsw

from covey.adapters.sqlite.engine.connection_cache import ConnectionCache
from covey.adapters.sqlite.engine.statements import statements
from covey.core.ids import MessageId

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
    raise RuntimeError("a read does not write: use commit")
