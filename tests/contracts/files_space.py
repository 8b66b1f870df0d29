"""The files store, opened by the path of its folder. Worker processes open it in the same way."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from covey.adapters.folder.background_thread import BackgroundThread
from covey.adapters.folder.disk_layout import prepare
from covey.adapters.folder.folder import FilesFolder
from covey.adapters.folder.passes import DeferredCommitGate, HeldWakeups, ThreadedPasses
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.engine.wal import LogSync
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.search.threaded import ThreadedSearch
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.adapters.system.liveness import SystemLiveness
from covey.core.coroutine import finish
from covey.core.formats.layout import Layout
from covey.ports.store import Store
from covey.services.mail.filing import NoticePorts
from covey.services.mirror.mirror import Mirror
from covey.services.mirror.store import InlinePasses, MirroredStore
from covey.testing.factories import Ring, SearchedStore, ViewedStore, closing, silent


def ledger(root: str) -> str:
    """Return the path of the ledger."""
    return f"{root}/.covey/covey.db"


def mirrored_inline(root: str, layout: Layout, ring: Ring) -> MirroredStore:
    """Return a store in which everything runs in the calling thread."""
    prepare(root, layout)
    store = SqliteStore(ledger(root), ring=ring)
    folder = FilesFolder(root, layout)
    mirror = _mirror(root, store, folder)
    return MirroredStore(store, folder, InlinePasses(folder, lambda: mirror))


def mirrored_threaded(root: str, layout: Layout, ring: Ring) -> MirroredStore:
    """Return a store that commits in groups, and whose passes have their own thread."""
    prepare(root, layout)
    rings = HeldWakeups(ring)
    store = GroupCommit(ledger(root), ring=rings.ring)
    log = LogSync(store.path, store.condition)
    beside = BackgroundThread(f"covey {root}")
    confirming = DeferredCommitGate(log, rings, beside)
    folder = FilesFolder(root, layout, beside, confirming)
    own = SqliteStore(ledger(root), ring=ring)
    mirror = _mirror(root, own, folder)

    async def let_go() -> None:
        await mirror.close()
        await own.close()
        log.close()

    passes = ThreadedPasses(mirror, lambda: finish(let_go()), confirming)
    return MirroredStore(store, folder, passes)


def _mirror(root: str, store: Store, folder: FilesFolder) -> Mirror:
    return Mirror(store, folder, SystemClock(), NoticePorts(SystemIds(), SystemLiveness(f"{root}/.covey")))


def dialogue_inline(root: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(mirrored_inline(root, Layout.DIALOGUE, ring))


def dialogue_threaded(root: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(mirrored_threaded(root, Layout.DIALOGUE, ring))


def mailbox_inline(root: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(mirrored_inline(root, Layout.MAILBOX, ring))


def mailbox_threaded(root: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(mirrored_threaded(root, Layout.MAILBOX, ring))


WAYS = {
    "dialogue_inline": dialogue_inline,
    "dialogue_threaded": dialogue_threaded,
    "mailbox_inline": mailbox_inline,
    "mailbox_threaded": mailbox_threaded,
}


@asynccontextmanager
async def views(way: str, root: str) -> AsyncGenerator[ViewedStore]:
    async with WAYS[way](root, silent) as store:
        yield ViewedStore(store, SqliteViews(ledger(root)))


@asynccontextmanager
async def search(way: str, root: str) -> AsyncGenerator[SearchedStore]:
    of = SqliteSearch if way.endswith("inline") else ThreadedSearch
    async with WAYS[way](root, silent) as store, closing(of(ledger(root))) as found:
        yield SearchedStore(store, found)
