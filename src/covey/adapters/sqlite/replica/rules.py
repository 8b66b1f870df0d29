"""Rules for records with an author: an agent sends only in its own name or in the name of the space."""

from collections.abc import Iterable
from typing import Final

from covey.adapters.sqlite.replica.rows import DELETE, DOCUMENT, MESSAGES, UPDATE, Row
from covey.core.errors import Rejected
from covey.core.ledger.marks import BY_WHOLE_SPACE
from covey.core.ledger.wire import decode
from covey.core.names import SPACE

_ID: Final = 1
_SENDER: Final = 6
_SWEPT: Final = 8
"""Places of columns in the messages table, like DOCUMENT."""


def forgery(author: str | None, rows: Iterable[Row]) -> str | None:
    """Return the first fault of the messages in a record of this author, or None. Without an author, the log does not
    authenticate its writers, and the messages are not checked."""
    if author is None:
        return None
    for row in rows:
        if row[0] == MESSAGES:
            reason = _fault(author, row)
            if reason is not None:
                return reason
    return None


def _fault(author: str, row: Row) -> str | None:
    _, change, _, values = row
    if change == DELETE:
        return None
    try:
        if change == UPDATE:
            changed = [place for place, _ in values]
            return None if changed == [_SWEPT] else f"{author} changed a message that was accepted"
        written, message_id, sender = decode(values[DOCUMENT]), values[_ID], values[_SENDER]
    except (Rejected, LookupError, TypeError, ValueError, AttributeError):
        return f"{author} wrote a message that is none"
    if written.id != message_id or written.sender.agent != sender:
        return f"{author} wrote a message that is filed as another one"
    if written.sender.agent not in (author, SPACE):
        return f"{author} sent a message as {written.sender.agent}"
    if written.marks is not None and any(getattr(written.marks, name) is not None for name in BY_WHOLE_SPACE):
        return f"{author} wrote marks that only a program for the whole space sets"
    return None
