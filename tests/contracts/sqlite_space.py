"""The SQLite adapters, opened by the path of the store. Worker processes open them in the same way."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.search.threaded import ThreadedSearch
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.ports.store import Store
from covey.testing.factories import Ring, SearchedStore, ViewedStore, closing, silent


def open_inline(path: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(SqliteStore(path, ring=ring))


def open_threaded(path: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(GroupCommit(path, ring=ring))


@asynccontextmanager
async def views_inline(path: str) -> AsyncGenerator[ViewedStore]:
    async with closing(SqliteStore(path, ring=silent)) as store:
        yield ViewedStore(store, SqliteViews(path))


@asynccontextmanager
async def views_threaded(path: str) -> AsyncGenerator[ViewedStore]:
    async with closing(GroupCommit(path, ring=silent)) as store:
        yield ViewedStore(store, SqliteViews(path))


@asynccontextmanager
async def search_inline(path: str) -> AsyncGenerator[SearchedStore]:
    async with closing(SqliteStore(path, ring=silent)) as store, closing(SqliteSearch(path)) as search:
        yield SearchedStore(store, search)


@asynccontextmanager
async def search_threaded(path: str) -> AsyncGenerator[SearchedStore]:
    async with closing(GroupCommit(path, ring=silent)) as store, closing(ThreadedSearch(path)) as search:
        yield SearchedStore(store, search)
