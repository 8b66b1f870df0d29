"""Replicated stores on NATS, opened by a store URL; worker processes open them in the same way."""

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from covey.adapters.nats.places import replica_path
from covey.adapters.sqlite.care.views import SqliteViews
from covey.adapters.sqlite.replica.replicated import ReplicatedSearch, ReplicatedStore
from covey.adapters.sqlite.replica.store import ReplicaStore
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.core.store_url import StoreUrl
from covey.engines import parse_store_url
from covey.engines.nats_ports import opener
from covey.ports.store import Store
from covey.testing.opening import Ring, Searched, Viewed, closing, silent


def path_of(url: StoreUrl) -> str:
    return replica_path(url, os.environ)


def inline(url: StoreUrl, ring: Ring) -> ReplicaStore:
    return ReplicaStore(opener(url, path_of(url), ring)(), ring=ring)


def threaded(url: StoreUrl, ring: Ring) -> ReplicatedStore:
    return ReplicatedStore(opener(url, path_of(url), ring), ring=ring)


def elsewhere(place: str) -> StoreUrl:
    """Return the URL as another machine has it: with a replica of its own."""
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
async def views_inline(place: str) -> AsyncGenerator[Viewed]:
    url = parse_store_url(place)
    async with closing(inline(url, silent)) as store:
        yield Viewed(store, SqliteViews(path_of(url)))


@asynccontextmanager
async def views_threaded(place: str) -> AsyncGenerator[Viewed]:
    url = parse_store_url(place)
    async with closing(threaded(url, silent)) as store:
        yield Viewed(store, SqliteViews(path_of(url)))


def views_apart(place: str) -> AbstractAsyncContextManager[Viewed]:
    return views_threaded(str(elsewhere(place)))


@asynccontextmanager
async def search_inline(place: str) -> AsyncGenerator[Searched]:
    url = parse_store_url(place)
    async with closing(inline(url, silent)) as store, closing(SqliteSearch(path_of(url))) as search:
        yield Searched(store, search)


@asynccontextmanager
async def search_threaded(place: str) -> AsyncGenerator[Searched]:
    url = parse_store_url(place)
    async with closing(threaded(url, silent)) as store, closing(ReplicatedSearch(store, path_of(url))) as search:
        yield Searched(store, search)


def search_apart(place: str) -> AbstractAsyncContextManager[Searched]:
    return search_threaded(str(elsewhere(place)))
