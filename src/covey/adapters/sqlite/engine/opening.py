"""Read-only opening of a store: no file is made, migrated or written."""

from urllib.parse import quote

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained


def open_to_look(path: str) -> apsw.Connection:
    """Return a read-only connection to the file at `path`."""
    try:
        return _opened(path, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # To read the log, SQLite makes an index beside the file, which fails in a read-only folder. No process can
        # write a log in that folder either. A log that was copied there with the file is ignored.
        return _opened(f"file:{quote(path)}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def check_database(path: str) -> None:
    """Raise an error if the file is no database or cannot be opened."""
    try:
        open_to_look(path).close()
    except apsw.Error as error:
        raise_explained(path, error)


def _opened(name: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
        list(on_one_cursor(connection)("pragma schema_version"))  # SQLite opens the file only at the first read
    except BaseException:
        connection.close()
        raise
    return connection
