"""Retention: the scopes that are closed and old enough to be pruned, and the reasons why others stay."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from covey.core.names import MessageId, Scope
from covey.core.work.run import Run
from covey.ports.ledger import MessageFilter
from covey.ports.pruning import Page, ThreadState
from covey.ports.store import Store, Transaction
from covey.ports.work import TaskFilter

SCOPES: Final = 100
"""The number of scopes per read."""

THREADS: Final = 500
"""The number of messages per read that are searched for their threads."""

MOST_RUNS: Final = 1_000_000
"""The number of children without a request that are counted."""


class PruneRequest(NamedTuple):
    before: datetime
    """Only threads without activity since then."""
    scope: Scope | None = None
    """Only this scope."""
    is_unscoped: bool = False
    """Only threads without a scope."""


class ClosedScope(NamedTuple):
    """The removable threads of a scope, or of all threads without one."""

    scope: Scope | None
    threads: int
    messages: int
    last_at: datetime
    tasks: int = 0
    runs: int = 0


class KeepReason(StrEnum):
    """The reason why a scope stays."""

    OPEN = "open"
    """The scope has waiting mail, open debts or unfinished tasks."""
    YOUNG = "young"
    """The scope has recent activity."""
    ABSENT = "absent"
    """The scope has no messages."""


class KeptScope(NamedTuple):
    scope: Scope
    why: KeepReason


class Survey(NamedTuple):
    closed: Sequence[ClosedScope]
    stays: Sequence[KeptScope]

    @property
    def messages(self) -> int:
        """An upper bound of the messages to remove: threads that reach into scopes that stay are counted too."""
        return sum(closed.messages for closed in self.closed)

    @property
    def tasks(self) -> int:
        """An upper bound of the tasks to remove, counted in the same way."""
        return sum(closed.tasks for closed in self.closed)

    @property
    def runs(self) -> int:
        """An upper bound of the children to remove, counted in the same way."""
        return sum(closed.runs for closed in self.closed)


async def survey(store: Store, wanted: PruneRequest) -> Survey:
    """Survey every wanted scope, and the threads without a scope."""
    closed: list[ClosedScope] = []
    stays: list[KeptScope] = []
    if not wanted.is_unscoped:
        async for scope in _scopes(store, wanted):
            verdict = await _judge(store, scope, wanted.before)
            closed.append(verdict) if isinstance(verdict, ClosedScope) else stays.append(verdict)
    if wanted.scope is None:
        loose = await _loose_threads(store, wanted.before)
        closed += [loose] if loose is not None else []
    return Survey(closed, stays)


async def _scopes(store: Store, wanted: PruneRequest) -> AsyncIterator[Scope]:
    if wanted.scope is not None:
        yield wanted.scope
        return
    after = ""
    while page := await store.read(lambda tx, after=after: tx.retention.scopes(after, SCOPES), is_long=True):
        for scope in page:
            yield scope
        after = page[-1]


async def _judge(store: Store, scope: Scope, before: datetime) -> ClosedScope | KeptScope:
    """Return the verdict on a scope. One thread that must stay keeps the whole scope."""
    glance = await store.read(lambda tx: _glance(tx, scope, before))
    if isinstance(glance, KeepReason):
        return KeptScope(scope, glance)
    closed = ClosedScope(scope, 0, 0, glance)
    walk = _ThreadWalk(store, scope, before)
    while states := await walk.further():
        for state in states:
            if not state.may_go(before):
                return KeptScope(scope, KeepReason.OPEN if state.is_open else KeepReason.YOUNG)
            closed = _with(closed, state)
    return closed


async def _glance(tx: Transaction, scope: Scope, before: datetime) -> datetime | KeepReason:
    """Return the time of a scope's last message, or the reason why it stays if that alone decides."""
    newest = await tx.messages.find(MessageFilter(scope=scope), 1)
    if not newest:
        return KeepReason.ABSENT
    if newest[0].created_at < before:
        return newest[0].created_at
    is_open = (
        await tx.tickets.owed_in(scope)
        or await tx.deliveries.unsettled_in(scope)
        or await tx.tasks.find(TaskFilter(scope=scope, is_finished=False), 1)
    )
    return KeepReason.OPEN if is_open else KeepReason.YOUNG


async def _loose_threads(store: Store, before: datetime) -> ClosedScope | None:
    """Return the removable threads without a scope, each judged by itself, and the children without a request, which
    belong to no thread."""
    unasked = await store.read(lambda tx: tx.retention.unasked(before, MOST_RUNS), is_long=True)
    closed = ClosedScope(None, 0, 0, max(map(_end, unasked)), runs=len(unasked)) if unasked else None
    walk = _ThreadWalk(store, None, before)
    while states := await walk.further():
        for state in states:
            if not state.scopes and state.may_go(before):
                closed = _with(closed or ClosedScope(None, 0, 0, state.last_at), state)
    return closed


def _end(run: Run) -> datetime:
    return run.ended_at or run.started_at


class _ThreadWalk:
    """Iterates over the threads of a scope, or without one, each once."""

    def __init__(self, store: Store, scope: Scope | None, before: datetime) -> None:
        self._store = store
        self._scope = scope
        self._before = before
        self._seen: set[MessageId] = set()
        self._after: int | None = 0

    async def further(self) -> Sequence[ThreadState]:
        """Return the next states; an empty sequence at the end."""
        found: Sequence[ThreadState] = ()
        while not found and (after := self._after) is not None:
            page = await self._store.read(partial(self._look, after), is_long=True)
            self._after = page.after
            found = [state for thread, state in page.items if thread not in self._seen]
            self._seen.update(thread for thread, _ in page.items)
        return found

    async def _look(self, after: int, tx: Transaction) -> Page[tuple[MessageId, ThreadState]]:
        page = await tx.retention.threads(self._scope, self._before, after, THREADS)
        states = [(thread, await tx.retention.state(thread)) for thread in page.items if thread not in self._seen]
        return Page([(thread, state) for thread, state in states if state is not None], page.after)


def _with(closed: ClosedScope, state: ThreadState) -> ClosedScope:
    return closed._replace(
        threads=closed.threads + 1,
        messages=closed.messages + state.messages,
        last_at=max(closed.last_at, state.last_at),
        tasks=closed.tasks + state.tasks,
        runs=closed.runs + state.runs,
    )
