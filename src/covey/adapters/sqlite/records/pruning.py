"""Pruning in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from covey.adapters.sqlite.engine.access import Access, statements
from covey.adapters.sqlite.engine.connection import Row
from covey.adapters.sqlite.records.rows import decode_document, to_instant, to_text
from covey.adapters.sqlite.records.work import decode_run
from covey.core.ledger.message import FilePart
from covey.core.names import MessageId, Scope
from covey.core.work.run import Run, RunId
from covey.ports.pruning import Page, RemovedCounts, ThreadState

_SQL = statements("pruning")


class SqliteRetentionQueries:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def scopes(self, after: str, limit: int) -> Sequence[Scope]:
        return [Scope(scope) for (scope,) in self._rows("scopes", after, limit)]

    async def threads(self, scope: Scope | None, before: datetime, after: int, limit: int) -> Page[MessageId]:
        if scope is None:
            rows = self._rows("without_scope", after, to_text(before), limit)
        else:
            rows = self._rows("in_scope", scope, after, to_text(before), limit)
        distinct = dict.fromkeys(MessageId(thread) for _, thread in rows)
        return Page(tuple(distinct), rows[-1][0] if rows and len(rows) == limit else None)

    async def state(self, thread: MessageId) -> ThreadState | None:
        ((messages, sent_at),) = self._rows("thread", thread)
        if messages == 0:
            return None
        ((waiting, moved_at),) = self._rows("thread_deliveries", thread)
        ((owed, owed_at),) = self._rows("thread_tickets", thread)
        tasks = self._rows("thread_tasks", thread)
        ((runs, running, ran_at),) = self._rows("thread_runs", thread)
        scopes = frozenset(Scope(scope) for (scope,) in self._rows("thread_scopes", thread))
        # All times are texts in one fixed format, which sorts by time.
        times = (sent_at, moved_at, owed_at, ran_at, *(updated_at for *_, updated_at in tasks))
        last_at = to_instant(max(time for time in times if time is not None))
        unfinished = sum(
            is_open or self._is_part_of_open(parent) or self._has_open_part(task_id)
            for task_id, parent, is_open, _ in tasks
        )
        return ThreadState(messages, waiting, owed, last_at, scopes, len(tasks), unfinished, runs, running)

    def _is_part_of_open(self, task_id: str | None) -> bool:
        """Tell whether a task, or any task above it, is not finished."""
        while task_id is not None:
            found = self._rows("whole", task_id)
            task_id, is_open = found[0] if found else (None, False)
            if is_open:
                return True
        return False

    def _has_open_part(self, task_id: str) -> bool:
        """Tell whether any part of a task, direct or indirect, is not finished."""
        ahead = [task_id]
        while ahead:
            for part, is_open in self._rows("parts", ahead.pop()):
                if is_open:
                    return True
                ahead.append(part)
        return False

    async def newest(self, thread: MessageId, limit: int) -> Sequence[MessageId]:
        return [MessageId(message_id) for (message_id,) in self._rows("newest", thread, limit)]

    async def unasked(self, before: datetime, limit: int) -> Sequence[Run]:
        return [decode_run(row) for row in self._rows("unasked", to_text(before), limit)]

    async def files(self, after: int, limit: int) -> Page[str]:
        rows = self._rows("with_files", after, limit)
        parts = (part for _, *row in rows for part in decode_document(*row).parts)
        distinct = dict.fromkeys(part.digest for part in parts if isinstance(part, FilePart))
        return Page(tuple(distinct), rows[-1][0] if rows and len(rows) == limit else None)

    def _rows(self, name: str, *values: Any) -> Sequence[Row]:
        return list(self._access.read(_SQL[name], values))


class SqlitePruned:
    __slots__ = ("_access",)

    def __init__(self, access: Access) -> None:
        self._access = access

    async def has(self, message_id: MessageId) -> bool:
        return self._access.read(_SQL["has"], (packed(message_id),)).fetchone() is not None

    async def count(self) -> int:
        return self._access.read(_SQL["count"]).get

    async def remember(self, message_ids: Sequence[MessageId]) -> None:
        for message_id in message_ids:
            self._access.write(_SQL["remember"], (packed(message_id),))

    async def remove(self, message_ids: Sequence[MessageId]) -> RemovedCounts:
        self._access.next_number()  # numbers continue from here, even if the rows with the last numbers are removed
        deliveries = tickets = events = tasks = posts = runs = 0
        for message_id in message_ids:
            if self._access.read(_SQL["is_open"], (message_id,)).get or not self._remove("message", message_id):
                raise LookupError(f"message {message_id} is open, or does not exist")
            deliveries += self._remove("deliveries", message_id)
            tickets += self._remove("tickets", message_id)
            self._remove("pairs", message_id)
            tasks += self._remove("task", message_id)
            posts += self._remove("posts", message_id)
            runs += self._remove("runs", message_id)
            events += self._remove("events", message_id)
            self._access.write(_SQL["remember"], (packed(message_id),))
        return RemovedCounts(len(message_ids), deliveries, tickets, 0, events, tasks, posts, runs)

    async def remove_runs(self, run_ids: Sequence[RunId]) -> RemovedCounts:
        self._access.next_number()  # as in `remove`
        events = 0
        for run_id in run_ids:
            row = self._access.read(_SQL["unasked_request"], (run_id,)).fetchone()
            if row is None:
                raise LookupError(f"run {run_id} has not ended, has a request, or does not exist")
            events += self._remove("events", *row)
            self._remove("runs", *row)
        return RemovedCounts(runs=len(run_ids), events=events)

    async def remove_offers(self, after: int, limit: int) -> tuple[RemovedCounts, int | None]:
        row: Row = next(self._access.read(_SQL["next_events"], (after, limit)))
        count, last = row
        if count == 0:
            return RemovedCounts(), None
        self._access.next_number()  # as in `remove`
        offers = self._remove("offers", after, last)
        events = self._remove("offer_events", after, last)
        return RemovedCounts(offers=offers, events=events), last if count == limit else None

    def _remove(self, what: str, *values: Any) -> int:
        self._access.write(_SQL[f"remove_{what}"], values)
        return self._access.read(_SQL["removed"]).get


def packed(message_id: MessageId) -> bytes:
    """Return the 22 bytes of a message id."""
    milliseconds, _, uuid = message_id.partition("-")
    return int(milliseconds).to_bytes(6) + bytes.fromhex(uuid.replace("-", ""))


def unpacked(stored: bytes) -> MessageId:
    """Return the message id of 22 bytes."""
    uuid = stored[6:].hex()
    parts = (uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])
    return MessageId(f"{int.from_bytes(stored[:6]):013d}-{'-'.join(parts)}")
