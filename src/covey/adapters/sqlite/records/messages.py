"""Messages in SQLite: the wire document, and beside it the columns for queries."""

from collections.abc import Sequence
from typing import Final

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access
from covey.adapters.sqlite.engine.statements import statements
from covey.adapters.sqlite.records.values import decode_document, of_document, to_text, to_text_or_null
from covey.core.errors import MessageDamaged
from covey.core.ids import MessageId
from covey.core.ledger.message import DataPart, Kind, Message, has_files
from covey.core.names import Scope

MAX_RECENT: Final = 256
MAX_LENGTH: Final = 4096
"""Length limit of cached documents, which keeps the cache small."""

_recent: dict[bytes, Message] = {}


def decode_recent(message_id: str, document: bytes, checksum: int | None) -> Message:
    """Return the message of a document. Raise MessageDamaged if the document is not the one that was filed. A document
    never changes its message, so the cached message is valid, except for messages that a reader could change."""
    known = _recent.get(document)
    if known is None:
        known = decode_document(message_id, document, checksum)
        remember(document, known)
    elif known.id != message_id:
        raise MessageDamaged(message_id, f"it is filed with the document of {known.id}")
    return known


def remember(document: bytes, message: Message) -> None:
    """Cache the message of a document, which will be read soon. Long messages, and messages that a reader could change,
    are not cached."""
    if len(document) <= MAX_LENGTH and not message.metadata and not _has_data(message):
        if len(_recent) >= MAX_RECENT:
            _recent.clear()
        _recent[document] = message


def _has_data(message: Message) -> bool:
    return any(isinstance(part, DataPart) for part in message.parts)


_SQL = statements("messages")
_ADD = _SQL["add"]
_GET = _SQL["get"]


class SqliteMessages:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        content = document.encode()
        row = (
            message.id,
            message.thread,
            message.scope,
            message.subject,
            message.kind,
            message.sender.agent,
            to_text(message.created_at),
            document,
            has_files(message.parts),
            of_document(content),
        )
        try:
            self._access.write(_ADD, row)
        except apsw.ConstraintError:
            raise LookupError(f"message {message.id} is filed already") from None
        self._access.filed.append(message.id)
        if message.marks is not None and message.marks.pair is not None:
            self._access.write(_SQL["add_pair"], (message.marks.pair, message.id))
        # A task is read again at each of its transitions. The waiting agent reads a question or an answer again.
        if message.expects_reply or message.in_reply_to is not None or message.kind is Kind.TASK:
            remember(content, message)
        if is_swept:
            self._access.write(_SQL["sweep_one"], (message.id,))

    async def get(self, message_id: MessageId) -> Message | None:
        row = self._access.read(_GET, (message_id,)).fetchone()
        return None if row is None else decode_recent(message_id, *row)

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        messages = [decode_recent(*row) for row in self._access.read(_SQL["thread"], (thread,))]
        for message in messages:
            if message.thread != thread:
                raise MessageDamaged(message.id, f"it is filed in thread {thread}")
        return messages

    async def find(self, wanted: "ports.MessageFilter", limit: int) -> Sequence[Message]:
        values = (wanted.kind, wanted.sender, to_text_or_null(wanted.since), limit)
        if wanted.scope is not None:
            rows = self._access.read(_SQL["newest_in_scope"], (*values, wanted.scope, wanted.subject))
        elif wanted.subject is not None:
            rows = self._access.read(_SQL["newest_on_subject"], (*values, wanted.subject))
        else:
            rows = self._access.read(_SQL["newest"], values)
        newest_first = [decode_recent(*row) for row in rows]
        for message in newest_first:
            if not _fits(message, wanted):
                raise MessageDamaged(message.id, "it is filed under what it does not say")
        newest_first.reverse()
        return newest_first

    async def latest_of(self, pair: str) -> Message | None:
        row = self._access.read(_SQL["latest_of"], (pair,)).fetchone()
        return None if row is None else decode_recent(*row)

    async def is_swept(self, message_id: MessageId) -> bool:
        row = self._access.read(_SQL["is_swept"], (message_id,)).fetchone()
        return row is not None and bool(row[0])

    async def sweep(self, scope: Scope) -> int:
        return sum(1 for _ in self._access.write(_SQL["sweep"], (scope,)))


def _fits(message: Message, wanted: "ports.MessageFilter") -> bool:
    """Tell whether a message matches the filter that its columns matched."""
    scope, subject, kind, sender, since = wanted
    return (
        (scope is None or message.scope == scope)
        and (subject is None or message.subject == subject)
        and (kind is None or message.kind is kind)
        and (sender is None or message.sender.agent == sender)
        and (since is None or message.created_at > since)
    )
