"""Who may say what in a record that a log vouches for: an agent sends in its own name, or lets the space speak."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from covey.adapters.sqlite.replica_changes import rows_of
from covey.adapters.sqlite.replica_rows import DELETE, UPDATE, Row
from covey.core.errors import Rejected
from covey.core.names import SPACE
from covey.core.wire import decode

MESSAGES: Final = "messages"
_ID: Final = 1
_SENDER: Final = 6
_SWEPT: Final = 8
_DOCUMENT: Final = 9
"""Columns of the messages' table, by their place in it."""


def forgery(author: str | None, rows: Iterable[Row], changeset: bytes) -> str | None:
    """Return what is wrong with the messages in a record of this author; None where nothing is. A log that does not
    tell people apart vouches for nobody, and everything is as it says."""
    if author is None:
        return None
    for row in chain(rows, rows_of(changeset, MESSAGES) if changeset else ()):
        if row.table == MESSAGES:
            reason = _fault(author, row)
            if reason is not None:
                return reason
    return None


def _fault(author: str, row: Row) -> str | None:
    if row.change == DELETE:
        return None
    if row.change == UPDATE:
        changed = [place for place, _ in row.values]
        return None if changed == [_SWEPT] else f"{author} changed a message that was accepted"
    try:
        written = decode(row.values[_DOCUMENT])
    except (Rejected, IndexError, TypeError):
        return f"{author} wrote a message that is none"
    if written.id != row.values[_ID] or written.sender.agent != row.values[_SENDER]:
        return f"{author} wrote a message that is filed as another one"
    if written.sender.agent in (author, SPACE):
        return None
    return f"{author} sent a message as {written.sender.agent}"
