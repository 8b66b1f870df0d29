"""The state of a replica: its log position, written in the same transaction as the applied records."""

from typing import NamedTuple

import apsw

from covey.adapters.sqlite.engine.access import Execute, on_one_cursor
from covey.adapters.sqlite.engine.files import prepare
from covey.adapters.sqlite.engine.opening import open_to_look
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import BUSY_LIMIT_S, raise_explained
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.core.errors import StoreCorrupt

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
        connection = open_to_look(path)
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
            raise StoreCorrupt(path, "it is no replica, but a store of its own")
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
