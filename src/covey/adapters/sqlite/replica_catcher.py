"""Catching the rows that a transaction changes, as they are written.

A statement that does nothing but write one new row is taken at its word: most of what is written is written so, and
looking at the row again would cost as much as writing it. For everything else SQLite calls a hook for each row before
it changes. Its own changesets would cost more than both: they look at every table anew, and read again what was
written.
"""

from collections.abc import Sequence
from typing import Any, cast

import apsw

from covey.adapters.sqlite.access import Execute
from covey.adapters.sqlite.replica_rows import DELETE, INSERT, UPDATE, Row
from covey.adapters.sqlite.replica_shapes import LOCAL_TABLES, PlainInsert, plain_insert, shapes


class Catcher:
    """Notes the rows that change on a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._shapes = shapes(connection)
        self._plain: dict[str, PlainInsert | None] = {}
        """What each statement writes that was run."""
        self._is_hooked = False
        self.rows: list[Row] = []

    def begin(self) -> None:
        """Note from now on; forget what was noted."""
        self.rows.clear()

    def stop(self) -> None:
        """Note nothing any more."""
        self.rows.clear()
        self._hook(is_on=False)

    def through(self, execute: Execute) -> Execute:
        """Return how to run statements whose rows are noted: as they say themselves, where they do. What is run
        otherwise is not noted."""
        connection, rows, known = self._connection, self.rows, self._plain

        def write(statement: str, values: tuple[Any, ...] = (), /) -> apsw.Cursor:
            try:
                plain = known[statement]
            except KeyError:
                plain = known[statement] = plain_insert(statement, self._shapes)
            if plain is None:
                if not self._is_hooked:
                    self._hook(is_on=True)
                return execute(statement, values)
            if self._is_hooked:
                self._hook(is_on=False)
            table, rest, arrange, place = plain
            cursor = execute(statement, values)
            rowid = connection.last_insert_rowid() if place is None else values[place]
            rows.append((table, INSERT, rowid, values if arrange is None else arrange((*values, *rest, rowid))))
            return cursor

        return write

    def _hook(self, *, is_on: bool) -> None:
        self._is_hooked = is_on
        self._connection.preupdate_hook(self._note if is_on else None)

    def _note(self, update: apsw.PreUpdate) -> None:
        table = update.table_name
        if table in LOCAL_TABLES:
            return
        change = update.opcode
        if change == apsw.SQLITE_INSERT:
            self.rows.append((table, INSERT, update.rowid, cast(Sequence[Any], update.new)))  # pyright: ignore[reportUnknownMemberType] # as declared by apsw
            return
        shape = self._shapes[table]
        key: int | Sequence[Any] = update.rowid
        if shape.key:
            old = cast(Sequence[Any], update.old)  # pyright: ignore[reportUnknownMemberType] # likewise
            key = [old[place] for place in shape.key]
        if change == apsw.SQLITE_DELETE:
            self.rows.append((table, DELETE, key, ()))
            return
        new = cast(Sequence[Any], update.update)  # pyright: ignore[reportUnknownMemberType] # likewise
        pairs = [(place, value) for place, value in enumerate(new) if value is not apsw.no_change]
        if pairs:
            self.rows.append((table, UPDATE, key, pairs))
