"""Free pages of the SQLite file: returned to the file system in small steps, with the writer lock taken for each."""

import os

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import absolute, connect
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.core.errors import StoreBusy

_SQL = statements("pages")
_STORE = statements("store")


class SqlitePages:
    """Free pages, for one thread. Never suspends."""

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
                # The file shrinks only when a checkpoint writes the log back, as far as no reader needs the pages.
                list(on_one_cursor(connection)(_SQL["write_back"]))
            return is_more
        except apsw.Error as error:
            raise_explained(self._path, error)
        finally:
            connection.close()

    def _give_back(self, connection: apsw.Connection, limit: int) -> bool:
        """Return up to `limit` pages, and tell whether more are free. A file without auto-vacuum stays as it is and
        reuses its pages. So does a file whose writer lock is not free in time: earlier work should not fail for
        this."""
        execute = on_one_cursor(connection)
        if execute(_SQL["free"]).get == 0 or execute(_SQL["manner"]).get == 0:
            return False
        turnstile = WriterLock(self._path)
        try:
            turnstile.enter(self._limit_s)
            execute(_STORE["begin"])
            # SQLite returns one row for each page.
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
