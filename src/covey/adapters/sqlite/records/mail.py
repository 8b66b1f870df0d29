"""Messages, deliveries and inboxes in SQLite.

A message is its wire document, and beside it the columns for queries. Inboxes have counts of their queued deliveries.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import apsw

import covey.ports as ports
from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import (
    SEQ,
    decode_delivery,
    decode_document,
    delivery_rows,
    document_checksum,
    encode_delivery,
    placed,
    readable,
    split_id,
    to_text,
    to_text_or_null,
)
from covey.core.errors import MessageDamaged
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, lapses_at
from covey.core.ledger.message import DataPart, Kind, Message, has_files
from covey.core.names import AgentName, DeliveryId, InboxId, MessageId, Scope, Subject

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
        raise MessageDamaged(message_id, f"its record has the document of {known.id}")
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


_MESSAGES = statements("messages")
_ADD_MESSAGE = _MESSAGES["add"]
_GET_MESSAGE = _MESSAGES["get"]


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
            document_checksum(content),
        )
        try:
            self._access.write(_ADD_MESSAGE, row)
        except apsw.ConstraintError:
            raise LookupError(f"message {message.id} is filed already") from None
        self._access.filed.append(message.id)
        if message.marks is not None and message.marks.pair is not None:
            self._access.write(_MESSAGES["add_pair"], (message.marks.pair, message.id))
        # A task is read again at each of its transitions. The waiting agent reads a question or an answer again.
        if message.expects_reply or message.in_reply_to is not None or message.kind is Kind.TASK:
            remember(content, message)
        if is_swept:
            self._access.write(_MESSAGES["sweep_one"], (message.id,))

    async def get(self, message_id: MessageId) -> Message | None:
        row = self._access.read(_GET_MESSAGE, (message_id,)).fetchone()
        return None if row is None else decode_recent(message_id, *row)

    async def thread(self, thread: MessageId) -> Sequence[Message]:
        messages = [decode_recent(*row) for row in self._access.read(_MESSAGES["thread"], (thread,))]
        for message in messages:
            if message.thread != thread:
                raise MessageDamaged(message.id, f"its record is in another thread, {thread}")
        return messages

    async def find(self, wanted: "ports.MessageFilter", limit: int) -> Sequence[Message]:
        values = (wanted.kind, wanted.sender, to_text_or_null(wanted.since), limit)
        if wanted.scope is not None:
            rows = self._access.read(_MESSAGES["newest_in_scope"], (*values, wanted.scope, wanted.subject))
        elif wanted.subject is not None:
            rows = self._access.read(_MESSAGES["newest_on_subject"], (*values, wanted.subject))
        else:
            rows = self._access.read(_MESSAGES["newest"], values)
        newest_first = [decode_recent(*row) for row in rows]
        for message in newest_first:
            if not _fits(message, wanted):
                raise MessageDamaged(message.id, "its columns contradict its document")
        newest_first.reverse()
        return newest_first

    async def latest_of(self, pair: str) -> Message | None:
        row = self._access.read(_MESSAGES["latest_of"], (pair,)).fetchone()
        return None if row is None else decode_recent(*row)

    async def is_swept(self, message_id: MessageId) -> bool:
        row = self._access.read(_MESSAGES["is_swept"], (message_id,)).fetchone()
        return row is not None and bool(row[0])

    async def sweep(self, scope: Scope) -> int:
        return sum(1 for _ in self._access.write(_MESSAGES["sweep"], (scope,)))


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


_COUNTS = statements("counts")
_NUMBERED = _COUNTS["numbered"]
_QUEUED = _COUNTS["queued"]


def next_number(access: Access, agent: AgentName, count: int = 1) -> int:
    """Reserve `count` numbers for the agent's mail, and return the first."""
    known = access.known
    last = known.numbered.get(agent)
    if last is None:
        row = access.read(_NUMBERED, (agent,)).fetchone()
        if row is None:
            raise LookupError(f"no agent {agent} to count for")
        last = int(row[0])
    known.numbered[agent] = last + count
    known.unwritten[agent] = True
    known.changes += 1
    return last + 1


def queued(access: Access, inbox: InboxId) -> int:
    """Return the number of deliveries that are queued in the inbox."""
    count = access.known.queued.get(inbox)
    if count is None:
        row = access.read(_QUEUED, (inbox,)).fetchone()
        count = access.known.queued[inbox] = 0 if row is None else row[0]
    return count


def change_queued(access: Access, inbox: InboxId, change: int) -> None:
    """Add `change` to the count of queued deliveries of the inbox."""
    known = access.known
    count = known.queued.get(inbox)
    known.queued[inbox] = (queued(access, inbox) if count is None else count) + change
    known.unwritten[inbox] = False
    known.changes += 1


def write_counts(access: Access) -> None:
    """Write the changed counts."""
    known = access.known
    for name, is_agent in known.unwritten.items():
        if is_agent:
            access.write(_COUNTS["number"], (known.numbered[AgentName(name)], name))
        elif count := known.queued[InboxId(name)]:
            access.write(_COUNTS["queue"], (name, count))
        else:
            access.write(_COUNTS["queue_none"], (name,))
    known.unwritten.clear()


_DELIVERIES = statements("deliveries")
_WAITING = _DELIVERIES["waiting"]
_STATES: Final = 3
_KINDS: Final = 5


class SqliteInboxes:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def waiting(
        self, inbox: InboxId, states: Collection[DeliveryState], after: int = 0, limit: int = 1000
    ) -> Sequence[DeliveryRecord]:
        wanted = _filled(states, _STATES)
        while True:
            rows = delivery_rows(self._access, _WAITING, (inbox, after, *wanted, limit))
            found = readable(rows)
            if found or not rows or len(rows) < limit:
                return found
            after = rows[-1][SEQ]  # more deliveries may follow a whole page of damaged ones

    async def queued(self, inbox: InboxId) -> int:
        return queued(self._access, inbox)

    async def oldest(self, inbox: InboxId, kinds: Collection[Kind]) -> DeliveryRecord | None:
        found = readable(delivery_rows(self._access, _DELIVERIES["oldest"], (inbox, *_filled(kinds, _KINDS))))
        return found[0] if found else None

    async def alike(
        self, inbox: InboxId, sender: AgentName, scope: Scope, subject: Subject
    ) -> Sequence[DeliveryRecord]:
        return readable(delivery_rows(self._access, _DELIVERIES["alike"], (inbox, sender, scope, subject)))

    async def occupied(self) -> Sequence[InboxId]:
        return [InboxId(inbox) for (inbox,) in self._access.read(_DELIVERIES["occupied"])]


def _filled(words: Collection[str], places: int) -> tuple[str | None, ...]:
    """Return the distinct words, padded with null to the number of parameters of the statement. Null matches
    nothing."""
    distinct = tuple(set(words))
    return distinct + (None,) * (places - len(distinct))


_ADD_DELIVERY = _DELIVERIES["add"]
_MOVE_DELIVERY = _DELIVERIES["move"]
_PUT_DELIVERY = _DELIVERIES["put"]
_WHERE = _DELIVERIES["where"]

Place = tuple[InboxId, str]
"""The inbox and the state of a delivery."""


class SqliteDeliveries:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def get(self, delivery_id: DeliveryId) -> DeliveryRecord | None:
        row = self._access.read(_DELIVERIES["get"], split_id(delivery_id)).fetchone()
        return None if row is None else decode_delivery(row)

    async def place(self, delivery: DeliveryRecord) -> DeliveryRecord:
        seq = self._access.next_number()
        checksum, *values = encode_delivery(delivery)
        row = (checksum, seq, delivery.inbox, *values)
        # A delivery without a seq was never placed, unless its caller built it again. So the insert comes before the
        # lookup.
        before = self._where(delivery) if delivery.seq else None
        if before is None:
            try:
                self._access.write(_ADD_DELIVERY, row)
            except apsw.ConstraintError:
                before = self._where(delivery)
                if before is None:
                    raise
        if before is not None:
            self._access.write(_MOVE_DELIVERY, row)
        self._count(before, delivery)
        return placed(delivery, seq)

    async def put(self, delivery: DeliveryRecord) -> None:
        before = self._where(delivery)
        if before is None or before[0] != delivery.inbox:
            raise LookupError(f"delivery {delivery.id} was not placed there; only `place` moves one")
        self._access.write(_PUT_DELIVERY, encode_delivery(delivery))
        self._count(before, delivery)

    async def of_message(self, message_id: MessageId) -> Sequence[DeliveryRecord]:
        return self._find("of_message", (message_id,))

    async def unsettled_in(self, scope: Scope) -> Sequence[DeliveryRecord]:
        return self._find("unsettled_in", (scope,))

    async def handled(self, agent: AgentName, number: int) -> Sequence[DeliveryRecord]:
        return self._find("handled", (agent, number))

    async def lapsed(self, now: datetime, limit: int) -> Sequence[DeliveryRecord]:
        until = (to_text(now), limit)
        # Damaged deliveries are skipped: an error here would block all other lapsed deliveries.
        leases, dates = (
            delivery_rows(self._access, _DELIVERIES[name], until) for name in ("lapsed_leases", "lapsed_dates")
        )
        return sorted((*readable(leases), *readable(dates)), key=_lapse)[:limit]

    def _find(self, name: str, values: Row) -> Sequence[DeliveryRecord]:
        return [decode_delivery(row) for row in self._access.read(_DELIVERIES[name], values)]

    def _where(self, delivery: DeliveryRecord) -> Place | None:
        return self._access.read(_WHERE, split_id(delivery.id)).fetchone()

    def _count(self, before: Place | None, after: DeliveryRecord) -> None:
        """Update the count of queued deliveries of each inbox."""
        if before is not None:
            if before == (after.inbox, after.state):
                return
            if before[1] == DeliveryState.QUEUED:
                change_queued(self._access, before[0], -1)
        if after.state is DeliveryState.QUEUED:
            change_queued(self._access, after.inbox, +1)


def _lapse(delivery: DeliveryRecord) -> tuple[datetime | None, int]:
    return lapses_at(delivery), delivery.seq
