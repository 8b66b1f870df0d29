"""Pages of the SQLite file: given back a few at a time, each time in a turn of its own."""

import os

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.connection import absolute, connect
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.core.errors import StoreBusy

_SQL = statements("pages")
_STORE = statements("store")


class SqlitePages:
    """For one thread; never suspends."""

    def __init__(self, path: str | os.PathLike[str], limit_s: float = BUSY_LIMIT_S) -> None:
        self._path = absolute(path)
        self._limit_s = limit_s

    async def size(self) -> int:
        return _size(self._path) + _size(f"{self._path}-wal")

    async def give_back(self, limit: int) -> bool:
        connection = connect(self._path, "full")
        try:
            is_more = self._give_back(connection, limit)
            if not is_more:
                # The file itself becomes shorter when the log is written back into it, as far as nobody reads.
                list(on_one_cursor(connection)(_SQL["write_back"]))
            return is_more
        except apsw.Error as error:
            raise_explained(self._path, error)
        finally:
            connection.close()

    def _give_back(self, connection: apsw.Connection, limit: int) -> bool:
        """Tell whether there is more; a file that can't give back stays as it is, and its pages are used again. So does
        one whose turn does not come: it is not worth failing for what was done before."""
        execute = on_one_cursor(connection)
        if execute(_SQL["free"]).get == 0 or execute(_SQL["manner"]).get == 0:
            return False
        turnstile = WriterLock(self._path)
        try:
            turnstile.enter(self._limit_s)
            execute(_STORE["begin"])
            # Each row that it returns is a page.
            list(execute(f"{_SQL['give_back']}({int(limit)})"))
            execute(_STORE["commit"])
        except StoreBusy:
            return False
        finally:
            turnstile.close()
        return execute(_SQL["free"]).get > 0


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0
