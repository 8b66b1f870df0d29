"""Snapshots: the whole database copied to another file, page by page, while others write.

A read transaction on the connection that the pages come from holds the moment: what others commit meanwhile is not
copied, and nobody waits. The log can't begin anew for as long.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

import apsw

from covey.adapters.sqlite.care.integrity import damage, miscounted
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.connection import absolute
from covey.adapters.sqlite.engine.migrations import missing
from covey.adapters.sqlite.engine.opening import open_to_look
from covey.adapters.sqlite.engine.statements import migration_names, statements
from covey.adapters.sqlite.engine.trouble import raise_explained
from covey.adapters.sqlite.records.values import decode_document
from covey.core.errors import StoreCorrupt, StoreFull, Unavailable
from covey.core.ledger.message import FilePart
from covey.ports.backup import Snapshot
from covey.ports.checkup import Tell

STEP: Final = 1000
"""How many pages are copied between two signs of life."""

PAGE: Final = 500

COUNTED: Final = {
    "agents": "agents",
    "sessions": "sessions",
    "messages": "messages",
    "deliveries": "deliveries",
    "tickets": "tickets",
    "tasks": "tasks",
    "posts": "posts",
    "bindings": "bindings",
    "runs": "runs",
    "offers": "offers",
    "events": "journal",
}
"""The kinds of records that a snapshot must have as many of as the store, and their tables."""

_SQL = statements("snapshots")
_STORE = statements("store")


class SqliteSnapshots:
    """For one thread; never suspends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = absolute(path)

    async def take(self, file: str, tell: Tell) -> Snapshot:
        try:
            source = open_to_look(self._path)  # an older store stays what it is: a backup comes before an upgrade
            try:
                missing(source, self._path, migration_names())
                expected = self._copy(source, file, tell)
            finally:
                source.close()
            return self._checked(file, expected)
        except apsw.Error as error:
            raise_explained(self._path, error)

    def _copy(self, source: apsw.Connection, file: str, tell: Tell) -> Mapping[str, int]:
        """Copy everything; return what was there to be copied."""
        execute = on_one_cursor(source)
        execute(_STORE["view"])
        counts = count(source)  # the first read fixes the moment
        copy = apsw.Connection(file)
        try:
            # Nobody else knows the file: it needs neither a log nor to be synced before it is whole.
            on_one_cursor(copy)(_SQL["set_up"])
            copy_pages(source, copy, tell)
            on_one_cursor(copy)(_SQL["plain"])
            on_one_cursor(copy)(_SQL["detach"])
        finally:
            copy.close()
        return counts

    def _checked(self, file: str, expected: Mapping[str, int]) -> Snapshot:
        snapshot, faults = examine(file)
        if snapshot.counts != expected:
            faults = [*faults, f"{dict(expected)} were copied and {dict(snapshot.counts)} are there"]
        if faults:
            raise StoreCorrupt(self._path, "; ".join(faults[:3]))
        return snapshot


def copy_pages(source: apsw.Connection, target: apsw.Connection, tell: Tell) -> None:
    """Copy a database over another; it is all there at the end, or nothing is."""
    try:
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(STEP)
                tell(copying.page_count - copying.remaining, copying.page_count)
    except apsw.FullError:
        raise StoreFull(target.filename) from None
    except apsw.IOError as error:  # which of the two files it was SQLite does not say
        reason = f"the disk failed while pages of {source.filename} were copied"
        raise Unavailable(f"{target.filename} can't be written: {reason}", path=target.filename) from error


def examine(file: str) -> tuple[Snapshot, Sequence[str]]:
    """Return what a copy holds, and what is wrong with it. Reads all of it."""
    connection = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        faults = [
            *damage(connection),
            *(f"the queued deliveries of {i} are miscounted" for i in miscounted(connection)),
        ]
        position = on_one_cursor(connection)(_SQL["position"]).get
        return Snapshot(position, count(connection), _digests(connection)), faults
    finally:
        connection.close()


def count(connection: apsw.Connection) -> Mapping[str, int]:
    """Return how many records of each kind there are, as far as the store has such."""
    execute = on_one_cursor(connection)
    there = {name for (name,) in execute(_SQL["tables"])}
    return {kind: execute(f"select count(*) from {table}").get for kind, table in COUNTED.items() if table in there}


def _digests(connection: apsw.Connection) -> Sequence[str]:
    """Return the blobs that messages refer to. An older store has no checksums of them."""
    execute = on_one_cursor(connection)
    found: set[str] = set()
    after = 0
    while rows := list(execute(_SQL["with_files"], (after, PAGE))):
        after = rows[-1][0]
        for _, message_id, document in rows:
            parts = decode_document(message_id, document, None).parts
            found.update(part.digest for part in parts if isinstance(part, FilePart))
    return sorted(found)
