"""The state of a replica: its log position, and the pulse of its follower.

The position is written in the same transaction as the applied records. The pulse is a time in a file that all
processes of the machine share. While the pulse beats, the replica is up to date with the log, and a read does not ask
the log.
"""

import os
from struct import Struct
from time import monotonic
from typing import Final, NamedTuple

import apsw

from covey.adapters.sqlite.care.integrity import open_read_only
from covey.adapters.sqlite.engine.access import Execute, on_one_cursor, statements
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S, prepare, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.core.errors import StoreCorrupt
from covey.disk.file_lock import FileLock

_SQL = statements("replica")
_STORE = statements("store")
_STATE = _SQL["state"]
_ADVANCE = _SQL["advance"]


class ReplicaState(NamedTuple):
    log: str
    """Identity of the log that the replica follows; empty before the first contact."""
    position: int
    """Position of the last applied entry."""
    record: str
    """Id of the last valid record; `record_at` is its position."""
    record_at: int


def read_state(execute: Execute) -> ReplicaState:
    """Return the state of the replica on whose connection this runs."""
    return ReplicaState(*execute(_STATE).get)


def write_state(execute: Execute, state: ReplicaState) -> None:
    """Write the state, within the transaction that led to it."""
    execute(_ADVANCE, state)


def is_replica(execute: Execute) -> bool:
    """Tell whether a database is a replica of a log. A replica gets its migrations from the log too."""
    return execute(_SQL["is_replica"]).get == 1


def has_followed(path: str) -> bool:
    """Tell whether there is a replica at `path` that has had contact with its log. No file is made."""
    try:
        connection = open_read_only(path)
    except apsw.Error:
        return False
    try:
        execute = on_one_cursor(connection)
        return is_replica(execute) and bool(read_state(execute).log)
    except apsw.Error:
        return False
    finally:
        connection.close()


def make_replica(path: str) -> None:
    """Make an empty replica if there is no file yet. Refuse a store that is no replica."""
    try:
        prepare(path)
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(int(BUSY_LIMIT_S * 1000))
            _make(connection, path)
        finally:
            connection.close()
    except (apsw.Error, OSError) as error:
        raise_explained(path, error)


def _make(connection: apsw.Connection, path: str) -> None:
    execute = on_one_cursor(connection)
    if is_replica(execute):
        return
    turnstile = WriterLock(path)
    try:
        turnstile.enter(BUSY_LIMIT_S)
        if is_replica(execute):
            return
        if execute(_STORE["schema"]).get:
            raise StoreCorrupt(path, "it is a store, not a replica")
        execute(_STORE["log_ahead"])
        execute(_STORE["begin"])
        try:
            execute(_STORE["mark_store"])
            execute(_STORE["start"])
            execute(_SQL["create"])
            execute(_STORE["commit"])
        except BaseException:
            if connection.in_transaction:
                execute(_STORE["rollback"])
            raise
    finally:
        turnstile.close()


FRESH_S: Final = 5.0
"""Seconds for which a beat is valid. If the follower stops without notice, commits of other machines in that time may
be invisible here. Otherwise they are invisible only until their record arrives."""

_TIME: Final = Struct("d")


class Pulse:
    """The pulse beside the replica at `path`. At most one process at a time is the follower."""

    def __init__(self, path: str) -> None:
        self._lock = FileLock(f"{path}-follow")

    def is_own(self) -> bool:
        """Become the follower, if there is no other; tell whether this process is the follower."""
        return self._lock.take_at_once()

    def beat(self) -> None:
        """Declare that all entries of the log are applied."""
        os.pwrite(self._lock.descriptor, _TIME.pack(monotonic()), 0)

    def stop(self) -> None:
        """Declare that the state of the replica is unknown."""
        os.pwrite(self._lock.descriptor, _TIME.pack(0.0), 0)

    def is_beating(self) -> bool:
        noted = os.pread(self._lock.descriptor, _TIME.size, 0)
        return len(noted) == _TIME.size and 0 <= monotonic() - _TIME.unpack(noted)[0] <= FRESH_S

    def close(self) -> None:
        self._lock.close()
