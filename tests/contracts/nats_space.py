"""Replicated stores on NATS, opened by a store URL. Worker processes open them in the same way."""

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from covey.adapters.nats.client.settings import replica_path
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.replica.replica import ReplicaStore
from covey.adapters.sqlite.replica.replicated_store import ReplicatedSearch, ReplicatedStore
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.core.store_url import StoreUrl
from covey.engines import parse_store_url
from covey.engines.nats_ports import opener
from covey.ports.store import Store
from covey.testing.factories import Ring, SearchedStore, ViewedStore, closing, silent


def path_of(url: StoreUrl) -> str:
    return replica_path(url, os.environ)


def inline(url: StoreUrl, ring: Ring) -> ReplicaStore:
    return ReplicaStore(opener(url, path_of(url), ring)(), ring=ring)


def threaded(url: StoreUrl, ring: Ring) -> ReplicatedStore:
    return ReplicatedStore(opener(url, path_of(url), ring), ring=ring)


def elsewhere(place: str) -> StoreUrl:
    """Return the URL for another machine: with a separate replica."""
    url = parse_store_url(place)
    folder = url.options["cache"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    return url._replace(options={**url.options, "cache": tempfile.mkdtemp(dir=folder)})


def open_inline(place: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(inline(parse_store_url(place), ring))


def open_threaded(place: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(threaded(parse_store_url(place), ring))


def open_apart(place: str, ring: Ring) -> AbstractAsyncContextManager[Store]:
    return closing(threaded(elsewhere(place), ring))


@asynccontextmanager
async def views_inline(place: str) -> AsyncGenerator[ViewedStore]:
    url = parse_store_url(place)
    async with closing(inline(url, silent)) as store:
        yield ViewedStore(store, SqliteViews(path_of(url)))


@asynccontextmanager
async def views_threaded(place: str) -> AsyncGenerator[ViewedStore]:
    url = parse_store_url(place)
    async with closing(threaded(url, silent)) as store:
        yield ViewedStore(store, SqliteViews(path_of(url)))


def views_apart(place: str) -> AbstractAsyncContextManager[ViewedStore]:
    return views_threaded(str(elsewhere(place)))


@asynccontextmanager
async def search_inline(place: str) -> AsyncGenerator[SearchedStore]:
    url = parse_store_url(place)
    async with closing(inline(url, silent)) as store, closing(SqliteSearch(path_of(url))) as search:
        yield SearchedStore(store, search)


@asynccontextmanager
async def search_threaded(place: str) -> AsyncGenerator[SearchedStore]:
    url = parse_store_url(place)
    async with closing(threaded(url, silent)) as store, closing(ReplicatedSearch(store, path_of(url))) as search:
        yield SearchedStore(store, search)


def search_apart(place: str) -> AbstractAsyncContextManager[SearchedStore]:
    return search_threaded(str(elsewhere(place)))
