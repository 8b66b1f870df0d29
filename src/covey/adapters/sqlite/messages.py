"""Messages in SQLite: the wire document, and beside it the columns that are asked for."""

from collections.abc import Sequence

import apsw

from covey import ports
from covey.adapters.sqlite.access import Access
from covey.adapters.sqlite.recent import decode_recent, remember
from covey.adapters.sqlite.statements import statements
from covey.adapters.sqlite.values import to_text, to_text_or_null
from covey.core.ids import MessageId
from covey.core.message import Kind, Message
from covey.core.names import Scope
from covey.core.parts import has_files

_SQL = statements("messages")
_ADD = _SQL["add"]
_GET = _SQL["get"]


class SqliteMessages:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
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
        )
        try:
            self._access.write(_ADD, row)
        except apsw.ConstraintError:
            raise LookupError(f"message {message.id} is filed already") from None
        # A task is read again at each of its moves, and what is asked or answered by whoever waits for it.
        if message.expects_reply or message.in_reply_to is not None or message.kind is Kind.TASK:
            remember(document, message)
        if is_swept:
            self._access.write(_SQL["sweep_one"], (message.id,))

    async def get(self, message_id: MessageId) -> Message | None:
        row = self._access.read(_GET, (message_id,)).fetchone()
        return None if row is None else decode_recent(row[0])

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        return [decode_recent(document) for (document,) in self._access.read(_SQL["thread"], (thread,))]

    async def find(self, wanted: "ports.MessageFilter", limit: int) -> Sequence[Message]:
        values = (wanted.kind, wanted.sender, to_text_or_null(wanted.since), limit)
        if wanted.scope is not None:
            rows = self._access.read(_SQL["newest_in_scope"], (*values, wanted.scope, wanted.subject))
        elif wanted.subject is not None:
            rows = self._access.read(_SQL["newest_on_subject"], (*values, wanted.subject))
        else:
            rows = self._access.read(_SQL["newest"], values)
        newest_first = [decode_recent(document) for (document,) in rows]
        newest_first.reverse()
        return newest_first

    async def is_swept(self, message_id: MessageId) -> bool:
        row = self._access.read(_SQL["is_swept"], (message_id,)).fetchone()
        return row is not None and bool(row[0])

    async def sweep(self, scope: Scope) -> int:
        return sum(1 for _ in self._access.write(_SQL["sweep"], (scope,)))
