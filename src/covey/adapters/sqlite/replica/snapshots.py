"""Snapshots of a replica: a copy of all its pages, with the log position of the copy."""

import os

import apsw

from covey.adapters.sqlite.care.integrity import damage, open_read_only
from covey.adapters.sqlite.care.snapshots import copy_pages
from covey.adapters.sqlite.engine.access import on_one_cursor, statements
from covey.adapters.sqlite.engine.files import raise_explained
from covey.adapters.sqlite.replica.state import read_state
from covey.core.errors import StoreCorrupt
from covey.disk.files import write_new
from covey.ports.log import LogSnapshots

_SQL = statements("snapshots")
_STORE = statements("store")


def take(path: str, file: str) -> int:
    """Copy a replica to a file, while other processes write. Return the log position of the copy."""
    try:
        source = open_read_only(path)
        try:
            execute = on_one_cursor(source)
            execute(_STORE["view"])
            position = read_state(execute).position  # the first read fixes the snapshot
            write_new(file, b"")  # private to its owner from the start
            copy = apsw.Connection(file)
            try:
                on_one_cursor(copy)(_SQL["set_up"])
                copy_pages(source, copy, _tell_nobody)
                on_one_cursor(copy)(_SQL["plain"])
            finally:
                copy.close()
        finally:
            source.close()
        return position
    except apsw.Error as error:
        raise_explained(path, error)


def keep(path: str, snapshots: LogSnapshots) -> int:
    """Keep a snapshot of a replica beside its log. Return the log position of the snapshot."""
    file = f"{path}-keeping-{os.getpid()}"
    try:
        position = take(path, file)
        snapshots.keep(file, position)
        return position
    finally:
        if os.path.exists(file):
            os.unlink(file)


def begin_with(file: str, replica: apsw.Connection, path: str) -> None:
    """Replace the content of a replica with a snapshot, in one transaction, while other processes may read."""
    try:
        source = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            faults = damage(source)
            if faults:
                raise StoreCorrupt(path, f"the snapshot of its log is damaged: {faults[0]}")
            copy_pages(source, replica, _tell_nobody)
        finally:
            source.close()
    except apsw.Error as error:
        raise_explained(path, error)


def _tell_nobody(_done: int, _total: int | None) -> None:
    """Stand in for a progress report without a receiver."""
