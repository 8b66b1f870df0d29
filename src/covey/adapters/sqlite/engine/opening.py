"""Opening a store only to look: nothing is made, migrated or written."""

from urllib.parse import quote

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained


def open_to_look(path: str) -> apsw.Connection:
    """Return a connection that can only read, to whatever file is there."""
    try:
        return _opened(path, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # To read the log SQLite makes an index of it beside the file, which it can't where the folder is read-only.
        # There nobody writes a log either; one that came with the file is left out.
        return _opened(f"file:{quote(path)}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def check_database(path: str) -> None:
    """Raise what is wrong with a file that is no database, or can't be opened."""
    try:
        open_to_look(path).close()
    except apsw.Error as error:
        raise_explained(path, error)


def _opened(name: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
        list(on_one_cursor(connection)("pragma schema_version"))  # before this the file is not even looked at
    except BaseException:
        connection.close()
        raise
    return connection
