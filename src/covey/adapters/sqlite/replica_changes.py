"""What a large transaction changes, as SQLite's own changeset.

For one commit alone it takes longer than catching the rows (replica_rows.py), because every table is looked at anew;
for many that share a transaction it takes a third of the time.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import apsw

from covey.adapters.sqlite.replica_rows import DELETE, INSERT, UPDATE, Misfit, Row

_apply = cast(Callable[..., object], apsw.Changeset.apply)  # pyright: ignore[reportUnknownMemberType] # as declared by apsw
_iter = cast(Callable[[bytes], Iterator[apsw.TableChange]], apsw.Changeset.iter)  # pyright: ignore[reportUnknownMemberType] # likewise


class Changes:
    """Recorded from now on, until `take` or `drop`. No hook may be on the connection meanwhile."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._session = apsw.Session(connection, "main")
        # Tables without a primary key have a rowid, which is the same on all replicas.
        self._session.config(apsw.SQLITE_SESSION_OBJCONFIG_ROWID, True)
        self._session.attach()

    def take(self) -> bytes:
        """Return the changeset; nothing where nothing has changed."""
        changeset = self._session.changeset()
        self._session.close()
        return changeset

    def drop(self) -> None:
        self._session.close()


def apply_changes(connection: apsw.Connection, changeset: bytes) -> None:
    """Change the same rows here. Where they are not what they were there it is Misfit, and nothing has changed."""
    conflicts: list[str] = []

    def conflict(reason: int, change: apsw.TableChange) -> int:
        conflicts.append(f"{change.op} in {change.name} ({apsw.mapping_session_conflict.get(reason, reason)})")
        return apsw.SQLITE_CHANGESET_ABORT

    try:
        _apply(changeset, connection, conflict=conflict)
    except (apsw.AbortError, apsw.CorruptError, apsw.SchemaChangeError) as error:
        raise Misfit(conflicts[0] if conflicts else str(error)) from None


def rows_of(changeset: bytes, table: str) -> Iterator[Row]:
    """Return what a changeset does to one table; keys are left out."""
    for change in _iter(changeset):
        if change.name == table:
            yield _row(change)


def _row(change: apsw.TableChange) -> Row:
    new = cast(Sequence[Any] | None, change.new)  # pyright: ignore[reportUnknownMemberType] # likewise
    if new is None:
        return Row(change.name, DELETE, (), ())
    if change.op == "INSERT":
        return Row(change.name, INSERT, (), new)
    pairs = [(place, value) for place, value in enumerate(new) if value is not apsw.no_change]
    return Row(change.name, UPDATE, (), pairs)
