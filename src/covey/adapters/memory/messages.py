"""Messages in memory, in the order of acceptance."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from covey.adapters.memory.table import Order, Shelf, Table
from covey.adapters.memory.undo import UndoLog
from covey.core.ids import MessageId
from covey.core.message import Message
from covey.core.names import Scope
from covey.ports.ledger import MessageFilter


class Filed(NamedTuple):
    message: Message
    is_swept: bool = False


def _places(filed: Filed) -> Iterable[tuple[Shelf, Order]]:
    yield ("thread", filed.message.thread), 0
    if filed.message.marks is not None and filed.message.marks.pair is not None:
        yield ("pair", filed.message.marks.pair), 0
    if filed.message.scope is not None and not filed.is_swept:
        yield ("unswept", filed.message.scope), 0


class MemoryMessages:
    def __init__(self, log: UndoLog) -> None:
        self.filed = Table[MessageId, Filed](log, _places)

    async def add(self, message: Message, document: str, *, is_swept: bool = False) -> None:
        if self.filed.get(message.id) is not None:
            raise LookupError(f"message {message.id} is filed already")
        self.filed.put(message.id, Filed(message, is_swept))

    async def get(self, message_id: MessageId) -> Message | None:
        filed = self.filed.get(message_id)
        return filed.message if filed else None

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        return tuple(filed.message for filed in self.filed.on(("thread", thread)))

    async def find(self, wanted: MessageFilter, limit: int) -> Sequence[Message]:
        newest = (filed.message for filed in self.filed.newest_first() if _fits(filed.message, wanted))
        return tuple(islice(newest, limit))[::-1]

    async def latest_of(self, pair: str) -> Message | None:
        found = self.filed.on(("pair", pair))
        return found[-1].message if found else None

    async def is_swept(self, message_id: MessageId) -> bool:
        filed = self.filed.get(message_id)
        return filed is not None and filed.is_swept

    async def sweep(self, scope: Scope) -> int:
        unswept = self.filed.on(("unswept", scope))
        for filed in unswept:
            self.filed.put(filed.message.id, filed._replace(is_swept=True))
        return len(unswept)


def _fits(message: Message, wanted: MessageFilter) -> bool:
    return (
        (wanted.scope is None or message.scope == wanted.scope)
        and (wanted.subject is None or message.subject == wanted.subject)
        and (wanted.kind is None or message.kind is wanted.kind)
        and (wanted.sender is None or message.sender.agent == wanted.sender)
        and (wanted.since is None or message.created_at > wanted.since)
    )
