"""Prune: old closed scopes and threads are removed from the space, with a tombstone in the journal, and so are blobs
that no message refers to."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.names import MessageId, Scope
from covey.core.storms.budget import REST, lifted
from covey.ports.blobs import BlobUpkeep
from covey.ports.care import Pages, ProgressCallback
from covey.ports.clock import Clock
from covey.ports.ledger import MessageFilter, Search
from covey.ports.pruning import Page, RemovedCounts, ThreadState, fingerprint
from covey.ports.store import Operation, Store, Transaction
from covey.services.act import Act, journal
from covey.services.care.retention import THREADS, PruneRequest, Survey, survey
from covey.services.care.upkeep import Upkeep

PAGE: Final = 500
"""The number of messages with files per read."""


async def unused_blobs(store: Store, blobs: BlobUpkeep) -> Sequence[str]:
    """Return the digests of stored blobs that no message refers to. The blobs are listed first, so that a blob stored
    afterwards, for a message that is being sent, is not among them."""
    kept = await blobs.digests()
    if not kept:
        return ()
    used = await used_blobs(store)
    return [digest for digest in kept if digest not in used]


async def used_blobs(store: Store) -> frozenset[str]:
    """Return the digests that messages refer to."""
    used: set[str] = set()
    after: int | None = 0
    while after is not None:
        page = await store.read(lambda tx, after=after: tx.retention.files(after, PAGE), is_long=True)
        used.update(page.items)
        after = page.after
    return frozenset(used)


BATCH: Final = 100
"""The number of messages per commit, so that other writers wait only briefly."""

EVENTS: Final = 2_000
"""The number of journal events that one commit looks through."""

PAGES: Final = 500
"""The number of pages that are returned to the file system per turn."""


class PruneResult(NamedTuple):
    """The result of a prune."""

    survey: Survey
    """The survey at the beginning."""
    removed: RemovedCounts
    blobs: int
    bytes_before: int
    bytes_after: int


class Prune:
    def __init__(
        self, store: Store, clock: Clock, upkeep: Upkeep, search: Search, blobs: BlobUpkeep, pages: Pages
    ) -> None:
        self._store = store
        self._clock = clock
        self._upkeep = upkeep
        self._search = search
        self._blobs = blobs
        self._pages = pages

    async def survey(self, wanted: PruneRequest) -> Survey:
        """Return the scopes that would be removed and those that would stay. Nothing is changed."""
        return await survey(self._store, wanted)

    async def prune(self, wanted: PruneRequest, actor: Identity, tell: ProgressCallback) -> PruneResult:
        """Remove old closed scopes and threads, and then all unreferenced data: offers, causal trees that have stopped
        growing, idle flows, the search index of removed messages, blobs, and free pages of the file."""
        await self._upkeep.tend()
        bytes_before = await self._pages.size()
        found = await survey(self._store, wanted)
        scopes = frozenset(closed.scope for closed in found.closed if closed.scope is not None)
        removed = RemovedCounts()
        for closed in found.closed:
            going = _Removal(closed.scope, scopes, wanted.before)
            after: int | None = 0
            while after is not None:
                threads, after = await self._store.read(going.look(after), is_long=True)
                while threads:
                    removal = going.removal(threads, actor, self._clock.now())
                    some, threads = await self._store.commit(removal, is_long=True)
                    removed = _sum(removed, some)
                    tell(removed.messages, found.messages)
        if wanted.scope is None:
            removed = _sum(removed, await self._remove_unasked(wanted.before, actor))
        removed = _sum(removed, await self._remove_offers(actor))
        await self._store.commit(lambda tx: _let_go_of_stopped(tx, wanted.before), is_long=True)
        while await self._store.commit(lambda tx: tx.trees.forget(wanted.before, EVENTS), is_long=True):
            tell(removed.messages, found.messages)
        while await self._store.commit(lambda tx: tx.flows.forget(self._clock.now() - REST, EVENTS), is_long=True):
            tell(removed.messages, found.messages)
        await self._search.forget()
        blobs = await self._remove_blobs()
        while await self._pages.give_back(PAGES):
            tell(removed.messages, found.messages)
        return PruneResult(found, removed, blobs, bytes_before, await self._pages.size())

    async def _remove_unasked(self, before: datetime, actor: Identity) -> RemovedCounts:
        """Remove the children whose spawn failed before their request was sent: they belong to no thread."""

        async def operation(tx: Transaction) -> RemovedCounts:
            runs = await tx.retention.unasked(before, BATCH)
            if not runs:
                return RemovedCounts()
            gone = await tx.pruned.remove_runs([run.id for run in runs])
            await _bury(Act(tx, actor, self._clock.now()), None, (), gone)
            return gone

        removed = RemovedCounts()
        while any(some := await self._store.commit(operation, is_long=True)):
            removed = _sum(removed, some)
        return removed

    async def _remove_offers(self, actor: Identity) -> RemovedCounts:
        """Remove the offers whose deliveries are all gone, no matter which run removed those."""
        removed = RemovedCounts()
        after: int | None = 0
        last = await self._store.read(_last)
        while after is not None and after < last:
            some, after = await self._store.commit(self._offers_from(after, actor), is_long=True)
            removed = _sum(removed, some)
        return removed

    def _offers_from(self, after: int, actor: Identity) -> Operation[tuple[RemovedCounts, int | None]]:
        async def operation(tx: Transaction) -> tuple[RemovedCounts, int | None]:
            removed, further = await tx.pruned.remove_offers(after, EVENTS)
            if any(removed):
                await _bury(Act(tx, actor, self._clock.now()), None, (), removed)
            return removed, further

        return operation

    async def _remove_blobs(self) -> int:
        return sum([await self._blobs.remove(digest) for digest in await unused_blobs(self._store, self._blobs)])


class _Removal(NamedTuple):
    """The threads to remove: of a scope, or without one."""

    scope: Scope | None
    scopes: frozenset[Scope]
    """All closed scopes: a thread that reaches into another scope stays."""
    before: datetime

    def look(self, after: int) -> Operation[Page[MessageId]]:
        """Return an operation that finds removable threads. It is a read, so that no writer waits for it."""

        async def operation(tx: Transaction) -> Page[MessageId]:
            page = await tx.retention.threads(self.scope, self.before, after, THREADS)
            states = [(thread, await tx.retention.state(thread)) for thread in page.items]
            return Page([thread for thread, state in states if self._fits(state)], page.after)

        return operation

    def removal(
        self, threads: Sequence[MessageId], actor: Identity, now: datetime
    ) -> Operation[tuple[RemovedCounts, Sequence[MessageId]]]:
        """Return an operation that removes the first of the threads, if they are still removable, and returns the
        remaining ones."""

        async def operation(tx: Transaction) -> tuple[RemovedCounts, Sequence[MessageId]]:
            if await self._has_come_alive(tx):
                return RemovedCounts(), ()
            ids: list[MessageId] = []
            left = list(threads)
            while left and len(ids) < BATCH:
                state = await tx.retention.state(left[0])
                if state is not None and self._fits(state):
                    room = BATCH - len(ids)
                    # A thread that is too long for one commit is removed from its end, so that the rest stays readable.
                    ids += await tx.retention.newest(left[0], room)
                    if state.messages > room:
                        break
                del left[0]
            if not ids:
                return RemovedCounts(), left
            removed = await tx.pruned.remove(ids)
            await _bury(Act(tx, actor, now), self.scope, ids, removed)
            return removed, left

        return operation

    def _fits(self, state: ThreadState | None) -> bool:
        return state is not None and state.may_go(self.before) and state.scopes <= self.scopes

    async def _has_come_alive(self, tx: Transaction) -> bool:
        """Tell whether a message was sent in the scope since it was found closed and old."""
        if self.scope is None:
            return False
        newest = await tx.messages.find(MessageFilter(scope=self.scope), 1)
        return bool(newest) and newest[0].created_at >= self.before


async def _bury(act: Act, scope: Scope | None, ids: Sequence[MessageId], removed: RemovedCounts) -> None:
    """Write a tombstone: the counts of removed records, and the range of messages."""
    await journal(
        act,
        Action.MESSAGES_PRUNED,
        scope=scope,
        **removed._asdict(),
        first=min(ids, default=None),
        last=max(ids, default=None),
        ids=fingerprint(ids) if ids else None,
    )


async def _let_go_of_stopped(tx: Transaction, before: datetime) -> None:
    """Lift the stops of causal trees that have been idle since and whose root is pruned, so that they are forgotten:
    such a tree can't be inspected any more."""
    for tree in await tx.trees.stopped():
        if tree.updated_at < before and await tx.pruned.has(tree.root):
            await tx.trees.put(lifted(tree, tree.updated_at))


async def _last(tx: Transaction) -> int:
    return await tx.journal.last()


def _sum(one: RemovedCounts, other: RemovedCounts) -> RemovedCounts:
    return RemovedCounts(*(a + b for a, b in zip(one, other, strict=True)))
