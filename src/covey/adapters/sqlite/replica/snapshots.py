"""Snapshots of a replica: a copy of all its pages, with the position that they belong to."""

import os

import apsw

from covey.adapters.sqlite.care.integrity import damage
from covey.adapters.sqlite.care.snapshots import copy_pages
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.opening import open_to_look
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.engine.trouble import raise_explained
from covey.adapters.sqlite.replica.state import read_state
from covey.core.errors import StoreCorrupt
from covey.disk.private import write_new
from covey.ports.log import LogSnapshots

_SQL = statements("snapshots")
_STORE = statements("store")


def take(path: str, file: str) -> int:
    """Copy a replica to a file, while others write; return the position that it is of."""
    try:
        source = open_to_look(path)
        try:
            execute = on_one_cursor(source)
            execute(_STORE["view"])
            position = read_state(execute).position  # the first read fixes the moment
            write_new(file, b"")  # for its owner alone, from the first moment
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
    """Keep a snapshot of a replica beside its log; return the position that it is of."""
    file = f"{path}-keeping-{os.getpid()}"
    try:
        position = take(path, file)
        snapshots.keep(file, position)
        return position
    finally:
        if os.path.exists(file):
            os.unlink(file)


def begin_with(file: str, replica: apsw.Connection, path: str) -> None:
    """Put what a snapshot holds in the place of what a replica holds; in one transaction, while others may read."""
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
    """Stand in where nobody watches."""
