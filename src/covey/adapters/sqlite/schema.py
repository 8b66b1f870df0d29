"""The schema while the store is open: a newer program may come and migrate it."""

import apsw

from covey.adapters.sqlite.access import on_one_cursor
from covey.adapters.sqlite.migrations import missing
from covey.adapters.sqlite.statements import migration_names, statements

_NUMBER = statements("store")["schema_number"]


class Schema:
    """What one connection knows of it."""

    __slots__ = ("_connection", "_execute", "_number", "_path")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._execute = on_one_cursor(connection)
        self._path = path
        self._number: int | None = None

    def check(self) -> None:
        """Raise StoreNewer where the store has gone through a migration that is unknown here. To be called within a
        transaction, whenever others have written since the last one."""
        number = self._execute(_NUMBER).get
        if number != self._number:
            missing(self._connection, self._path, migration_names())
            self._number = number
