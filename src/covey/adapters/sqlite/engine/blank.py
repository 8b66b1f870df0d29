"""A new store: a database without tables. The file appears only when complete, so an empty file is never a store."""

# No pathlib, as in access.py.

import errno
import os
from contextlib import suppress
from typing import Final

import apsw

from covey.adapters.sqlite.engine.access import on_one_cursor, statements
from covey.disk.files import private, sync, write_new

MAKING: Final = "-making-"
"""Suffix in the name of a store that is not complete yet."""

_WITHOUT_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Error numbers of a file system without hard links."""


def make_blank(path: str) -> None:
    """Make a store without tables at `path`, unless a file is there already."""
    content = _blank()
    making = f"{path}{MAKING}{os.getpid()}"
    descriptor = private(making, os.O_WRONLY)
    try:
        try:
            os.write(descriptor, content)
            sync(descriptor)
        finally:
            os.close(descriptor)
        os.link(making, path)
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        if error.errno not in _WITHOUT_LINKS:
            raise
        write_new(path, content)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(making)


def _blank() -> bytes:
    connection = apsw.Connection(":memory:")
    try:
        execute = on_one_cursor(connection)
        execute(statements("store")["give_pages_back"])
        execute(statements("store")["mark_store"])
        return connection.serialize("main")
    finally:
        connection.close()
