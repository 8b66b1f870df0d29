"""Access: what the records of one connection share to read, to write, to remember and to count."""

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
    """Runs statements on one cursor: what one finds is taken before the next is run."""

    def __call__(self, statement: str, values: tuple[Any, ...] = (), /) -> apsw.Cursor: ...


def on_one_cursor(connection: apsw.Connection) -> Execute:
    """Return how to run statements. Making a cursor anew for each would cost more than many of them do."""
    cursor: Any = connection.cursor()  # the types that apsw declares for values are not known to every type checker
    return cursor.execute


class Access:
    __slots__ = ("filed", "known", "read", "write")

    def __init__(self, read: Execute, write: Execute, known: ConnectionCache) -> None:
        self.read = read
        self.write = write
        self.known = known
        self.filed: list[MessageId] = []
        """The messages that the transaction under way has filed."""

    def next_number(self) -> int:
        """Return a number greater than any that was given before, for an event or a placed delivery."""
        known = self.known
        last = known.last
        if last is None:
            last = int(self.read(_LAST).get)
        known.last = last = last + 1
        return last

    def begin(self, version: int) -> None:
        """Begin a transaction over what others had committed when they came to `version`."""
        self.filed.clear()
        self.known.at(version, self._directory)

    def change_directory(self) -> None:
        """Count that an agent, a session or a setting has changed, so that others forget what they remember."""
        self.write(_CHANGE_DIRECTORY)
        self.known.directory = None
        self.known.move_on()

    def _directory(self) -> int:
        return int(self.read(_DIRECTORY).get)


def refuse(_statement: str, _values: tuple[Any, ...] = (), /) -> apsw.Cursor:
    """Stand in for `write` where only reading is allowed."""
    raise RuntimeError("a read does not write: use commit")
