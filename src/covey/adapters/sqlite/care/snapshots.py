"""Snapshots: copies of the whole database to another file, page by page, while other processes write.

A read transaction on the source connection fixes the snapshot: commits after its start are not copied, and no process
waits. SQLite cannot restart the log during the copy.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

import apsw

from covey.adapters.sqlite.care.integrity import damage, miscounted, open_read_only
from covey.adapters.sqlite.engine.access import migration_names, on_one_cursor, statements
from covey.adapters.sqlite.engine.connection import absolute, missing_migrations
from covey.adapters.sqlite.engine.files import raise_explained
from covey.adapters.sqlite.records.rows import decode_document
from covey.core.errors import StoreCorrupt, StoreFull, Unavailable
from covey.core.ledger.message import FilePart
from covey.ports.care import ProgressCallback, Snapshot

STEP: Final = 1000
"""Pages that are copied between two progress reports."""

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
"""Kinds of records and their tables. A snapshot must have as many records of each kind as the store."""

_SQL = statements("snapshots")
_STORE = statements("store")


class SqliteSnapshots:
    """Snapshots of a store, for one thread. Never suspends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = absolute(path)

    async def take(self, file: str, tell: ProgressCallback) -> Snapshot:
        try:
            source = open_read_only(self._path)  # does not migrate an older store: a backup comes before an upgrade
            try:
                missing_migrations(source, self._path, migration_names())
                expected = self._copy(source, file, tell)
            finally:
                source.close()
            return self._checked(file, expected)
        except apsw.Error as error:
            raise_explained(self._path, error)

    def _copy(self, source: apsw.Connection, file: str, tell: ProgressCallback) -> Mapping[str, int]:
        """Copy the whole database. Return the counts of the records at the source."""
        execute = on_one_cursor(source)
        execute(_STORE["view"])
        counts = count(source)  # the first read fixes the snapshot
        copy = apsw.Connection(file)
        try:
            # No other process knows the file, so it needs no log, and no sync before it is complete.
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


def copy_pages(source: apsw.Connection, target: apsw.Connection, tell: ProgressCallback) -> None:
    """Copy a database over another one, atomically: the target has all pages of the source, or is unchanged."""
    try:
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(STEP)
                tell(copying.page_count - copying.remaining, copying.page_count)
    except apsw.FullError:
        raise StoreFull(target.filename) from None
    except apsw.IOError as error:  # SQLite does not say which of the two files failed
        reason = f"the disk failed while pages of {source.filename} were copied"
        raise Unavailable(f"{target.filename} can't be written: {reason}", path=target.filename) from error


def examine(file: str) -> tuple[Snapshot, Sequence[str]]:
    """Return the content of a copy and its faults. Reads the whole copy."""
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
    """Return the number of records of each kind. An older store may lack some kinds."""
    execute = on_one_cursor(connection)
    there = {name for (name,) in execute(_SQL["tables"])}
    return {kind: execute(f"select count(*) from {table}").get for kind, table in COUNTED.items() if table in there}


def _digests(connection: apsw.Connection) -> Sequence[str]:
    """Return the digests of the blobs that messages refer to. An older store has no checksums of messages."""
    execute = on_one_cursor(connection)
    found: set[str] = set()
    after = 0
    while rows := list(execute(_SQL["with_files"], (after, PAGE))):
        after = rows[-1][0]
        for _, message_id, document in rows:
            parts = decode_document(message_id, document, None).parts
            found.update(part.digest for part in parts if isinstance(part, FilePart))
    return sorted(found)
