"""The survey before a prune: which scopes are closed and old, and which stay and why."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from covey.core.ids import MessageId
from covey.core.names import Scope
from covey.core.pruning import ThreadState
from covey.core.run import Run
from covey.ports.ledger import MessageFilter
from covey.ports.pruning import Page
from covey.ports.store import Store, Transaction
from covey.ports.tasks import TaskFilter

SCOPES: Final = 100
"""How many scopes are looked at in one read."""

THREADS: Final = 500
"""How many messages are looked through for their threads in one read."""

MOST_RUNS: Final = 1_000_000
"""How many children that never were asked anything are counted."""


class Wanted(NamedTuple):
    before: datetime
    """Only what has been quiet since then."""
    scope: Scope | None = None
    """Only this one."""
    is_unscoped: bool = False
    """Only what has no scope."""


class Closed(NamedTuple):
    """What may go: a scope, or all threads without one."""

    scope: Scope | None
    threads: int
    messages: int
    last_at: datetime
    tasks: int = 0
    runs: int = 0


class Why(StrEnum):
    """Why something stays."""

    OPEN = "open"
    """Something in it waits, is owed, or is not finished."""
    YOUNG = "young"
    """Something has happened in it lately."""
    ABSENT = "absent"
    """It has no messages."""


class Stays(NamedTuple):
    scope: Scope
    why: Why


class Survey(NamedTuple):
    closed: Sequence[Closed]
    stays: Sequence[Stays]

    @property
    def messages(self) -> int:
        """How many messages go, or a few less: threads that reach into scopes that stay are not taken out."""
        return sum(closed.messages for closed in self.closed)

    @property
    def tasks(self) -> int:
        """How many tasks go, counted in the same way."""
        return sum(closed.tasks for closed in self.closed)

    @property
    def runs(self) -> int:
        """How many children go, counted in the same way."""
        return sum(closed.runs for closed in self.closed)


async def survey(store: Store, wanted: Wanted) -> Survey:
    """Look at every scope that is wanted, and at what has none."""
    closed: list[Closed] = []
    stays: list[Stays] = []
    if not wanted.is_unscoped:
        async for scope in _scopes(store, wanted):
            verdict = await _judge(store, scope, wanted.before)
            closed.append(verdict) if isinstance(verdict, Closed) else stays.append(verdict)
    if wanted.scope is None:
        loose = await _loose_threads(store, wanted.before)
        closed += [loose] if loose is not None else []
    return Survey(closed, stays)


async def _scopes(store: Store, wanted: Wanted) -> AsyncIterator[Scope]:
    if wanted.scope is not None:
        yield wanted.scope
        return
    after = ""
    while page := await store.read(lambda tx, after=after: tx.holdings.scopes(after, SCOPES), is_long=True):
        for scope in page:
            yield scope
        after = page[-1]


async def _judge(store: Store, scope: Scope, before: datetime) -> Closed | Stays:
    """Return what a scope comes to; as soon as one thread keeps it, the others do not matter."""
    glance = await store.read(lambda tx: _glance(tx, scope, before))
    if isinstance(glance, Why):
        return Stays(scope, glance)
    closed = Closed(scope, 0, 0, glance)
    walk = _Walk(store, scope, before)
    while states := await walk.further():
        for state in states:
            if not state.may_go(before):
                return Stays(scope, Why.OPEN if state.is_open else Why.YOUNG)
            closed = _with(closed, state)
    return closed


async def _glance(tx: Transaction, scope: Scope, before: datetime) -> datetime | Why:
    """Return when the last message of a scope was made, or why it stays where that alone tells."""
    newest = await tx.messages.find(MessageFilter(scope=scope), 1)
    if not newest:
        return Why.ABSENT
    if newest[0].created_at < before:
        return newest[0].created_at
    is_open = (
        await tx.tickets.owed_in(scope)
        or await tx.deliveries.unsettled_in(scope)
        or await tx.tasks.find(TaskFilter(scope=scope, is_finished=False), 1)
    )
    return Why.OPEN if is_open else Why.YOUNG


async def _loose_threads(store: Store, before: datetime) -> Closed | None:
    """Return what the threads without any scope come to that may go, each by itself; and the children that never were
    asked anything, which are of no thread."""
    unasked = await store.read(lambda tx: tx.holdings.unasked(before, MOST_RUNS), is_long=True)
    closed = Closed(None, 0, 0, max(map(_end, unasked)), runs=len(unasked)) if unasked else None
    walk = _Walk(store, None, before)
    while states := await walk.further():
        for state in states:
            if not state.scopes and state.may_go(before):
                closed = _with(closed or Closed(None, 0, 0, state.last_at), state)
    return closed


def _end(run: Run) -> datetime:
    return run.ended_at or run.started_at


class _Walk:
    """Goes through the threads of a scope, or without one, each once."""

    def __init__(self, store: Store, scope: Scope | None, before: datetime) -> None:
        self._store = store
        self._scope = scope
        self._before = before
        self._seen: set[MessageId] = set()
        self._after: int | None = 0

    async def further(self) -> Sequence[ThreadState]:
        """Return the next ones; none at the end."""
        found: Sequence[ThreadState] = ()
        while not found and (after := self._after) is not None:
            page = await self._store.read(partial(self._look, after), is_long=True)
            self._after = page.after
            found = [state for thread, state in page.items if thread not in self._seen]
            self._seen.update(thread for thread, _ in page.items)
        return found

    async def _look(self, after: int, tx: Transaction) -> Page[tuple[MessageId, ThreadState]]:
        page = await tx.holdings.threads(self._scope, self._before, after, THREADS)
        states = [(thread, await tx.holdings.state(thread)) for thread in page.items if thread not in self._seen]
        return Page([(thread, state) for thread, state in states if state is not None], page.after)


def _with(closed: Closed, state: ThreadState) -> Closed:
    return closed._replace(
        threads=closed.threads + 1,
        messages=closed.messages + state.messages,
        last_at=max(closed.last_at, state.last_at),
        tasks=closed.tasks + state.tasks,
        runs=closed.runs + state.runs,
    )
