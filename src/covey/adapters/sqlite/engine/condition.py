"""The condition of an open store: whether this process may go on with the files that it opened.

Two things end that. The path names other files than those that were opened: they were removed, moved or replaced, and
what is written to them is lost with them. Or the disk did not confirm a write: the kernel may have dropped the pages,
and a later sync would succeed without them. A store that was ended so stays ended until it is opened anew.
"""

# No pathlib, and no threads: short-lived programs come this way.

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NoReturn

import apsw

from covey.adapters.sqlite.engine.files import prepare
from covey.adapters.sqlite.engine.trouble import explain, raise_explained
from covey.core.errors import CoveyError, StoreMissing, StoreStopped, StoreUnconfirmed

_LOG: Final = ("-wal", "-shm")
"""The files that SQLite has open beside the database."""

_UNCONFIRMED: Final = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

_stopped: set[str] = set()
"""Stores whose disk did not confirm a write of this process, and that were not opened since."""

Identity = tuple[int, int]
"""The device and the number of a file. The number is not given to another file while this one is open."""


class Condition:
    """Of the store at `path`, for all its connections in this process; made before the first of them. Any thread may
    use it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fault: Callable[[], CoveyError] | None = None
        """Makes the error that has ended the store."""
        self._unconfirmed: str | None = None
        """Why the disk did not confirm a write."""
        self._beside: Sequence[tuple[str, Identity]] = ()
        try:
            prepare(path)
            self._database = _identity(path)
        except OSError as error:
            raise_explained(path, error)

    def opened(self, connection: apsw.Connection) -> None:
        """Note which files were opened, once there is a connection. If the disk did not confirm a write of this process
        before, write the log back first: that writes all its pages anew."""
        found: list[tuple[str, Identity]] = []
        for beside in _LOG:
            try:
                found.append((f"{self._path}{beside}", _identity(f"{self._path}{beside}")))
            except FileNotFoundError:
                continue  # a database without a log
        self._beside = found
        self.check()
        if self._path in _stopped:
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
            except apsw.Error as error:
                raise_explained(self._path, error)
            _stopped.discard(self._path)

    def check(self) -> None:
        """Raise what has ended the store: StoreMissing unless the path names the files that were opened, StoreStopped
        after a write that the disk did not confirm."""
        self.check_database()
        try:
            for path, identity in self._beside:
                if _identity(path) != identity:
                    self._miss(f"{path} was replaced")
        except OSError as error:
            self._miss(f"{error.filename}: {error.strerror}")

    def check_database(self) -> None:
        """Like `check`, without the files beside the database: enough for a read."""
        self.check_writable()
        try:
            if _identity(self._path) != self._database:
                self._miss("another file has its name")
        except OSError as error:
            self._miss(str(error.strerror))

    def check_writable(self) -> None:
        """Raise what has ended the store, if that was noticed before."""
        if self._fault is not None:
            raise self._fault()

    def check_confirmed(self) -> None:
        """Raise StoreUnconfirmed for something that is committed already, if the disk did not confirm an earlier
        write."""
        if self._unconfirmed is not None:
            raise StoreUnconfirmed(self._path, self._unconfirmed)

    def check_committed(self) -> None:
        """Like `check`, for something that is committed already."""
        self.check_confirmed()
        self.check()

    def stop(self, reason: str) -> None:
        """Write no more: the disk did not confirm a write."""
        self._unconfirmed = reason
        self._fault = self._fault or partial(StoreStopped, self._path, reason)
        _stopped.add(self._path)

    def unconfirmed(self, error: Exception, message_ids: Sequence[str] = ()) -> StoreUnconfirmed:
        """Write no more, and return the error for those whose commit the disk did not confirm."""
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        self.stop(reason)
        return StoreUnconfirmed(self._path, reason, message_ids)

    def raise_explained(self, error: Exception, message_ids: Sequence[str] = ()) -> NoReturn:
        """Raise what an error of a commit stands for."""
        if is_unconfirmed(error):
            raise self.unconfirmed(error, message_ids) from error
        fact = explain(self._path, error)
        if fact is error:
            raise error
        raise fact from error

    def _miss(self, reason: str) -> NoReturn:
        self._fault = partial(StoreMissing, self._path, reason)
        raise self._fault()


def is_unconfirmed(error: Exception) -> bool:
    """Tell whether an error of SQLite is a failed sync."""
    return getattr(error, "extendedresult", 0) in _UNCONFIRMED


def _identity(path: str) -> Identity:
    found = os.stat(path)
    return found.st_dev, found.st_ino
