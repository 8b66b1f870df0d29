"""Replicas of a log on a real server that stops, stalls, purges its log, or loses it."""

import asyncio
import os
import threading
import uuid
from collections.abc import Collection, Generator
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import ask
from covey.adapters.nats.client.settings import parse_nats
from covey.adapters.nats.log.log import NatsLog
from covey.adapters.nats.log.snapshots import NatsSnapshots
from covey.adapters.sqlite.replica.replicated_store import ReplicatedStore
from covey.adapters.sqlite.replica.snapshots import keep
from covey.core.errors import LogDiverged, Unavailable
from covey.core.formats.nats_names import SpaceName, log_stream
from covey.core.names import Topic
from covey.core.store_url import StoreUrl
from covey.engines import parse_store_url
from covey.ports.store import Transaction
from covey.testing import closing, silent
from covey.testing.contracts.store import both, increment, ringing
from tests.contracts.nats_space import inline, path_of, threaded
from tests.nats.servers import NatsServer, one_node

LIMIT_S = 20.0


class Space:
    """A space on a server, with the URLs of several machines."""

    def __init__(self, server: NatsServer, folder: Path) -> None:
        self.name = SpaceName(f"s{uuid.uuid4().hex}")
        self._server = server
        self._folder = folder

    def on(self, machine: str, limit_s: float = LIMIT_S) -> StoreUrl:
        return parse_store_url(f"{self._server.url}/{self.name}?limit={limit_s}&cache={self._folder / machine}")


@pytest.fixture
def space(server: NatsServer, tmp_path: Path) -> Space:
    return Space(server, tmp_path)


@pytest.fixture
def own_server(tmp_path: Path) -> Generator[NatsServer]:
    """A server that a test may stop."""
    with one_node(tmp_path / "server") as server:
        yield server


async def test_a_deleted_log_is_noticed_at_once(space: Space) -> None:
    async with closing(inline(space.on("a"), silent)) as store, closing(threaded(space.on("b"), silent)) as staying:
        assert await store.commit(increment) == 1
        assert await staying.commit(increment) == 2
        link = Link(parse_nats(space.on("a"), os.environ)).share()
        link.call(lambda client: delete(client, log_stream(space.name)), LIMIT_S)
        link.release()
        async with asyncio.timeout(LIMIT_S / 2):
            for doomed in (store, staying):
                with pytest.raises(LogDiverged, match="no longer exists"):
                    await doomed.commit(increment)
        with pytest.raises(LogDiverged, match="no longer exists"):
            inline(space.on("a"), silent)


async def test_a_commit_may_be_larger_than_a_message_of_the_server(space: Space) -> None:
    async def fill(transaction: Transaction) -> None:
        for n in range(60):
            await transaction.settings.put(f"large {n}", os.urandom(30_000).hex())

    async with closing(threaded(space.on("a"), silent)) as a, closing(threaded(space.on("b"), silent)) as b:
        await b.read(both)
        await a.commit(fill)
        assert await b.commit(increment) == 1
        written = await a.read(lambda tx: tx.settings.get("large 59"))
        assert written is not None
        assert await b.read(lambda tx: tx.settings.get("large 59")) == written


async def test_a_new_machine_starts_from_a_snapshot(space: Space) -> None:
    link = Link(parse_nats(space.on("a"), os.environ)).share()
    snapshots = NatsSnapshots(link)
    async with closing(inline(space.on("a"), silent)) as a:
        for _ in range(3):
            for _ in range(3):
                await a.commit(increment)
            keep(path_of(space.on("a")), snapshots)
        assert await a.commit(increment) == 10
    state = NatsLog(link, print).state()
    link.release()
    assert state is not None
    assert state.first > 1
    async with closing(inline(space.on("late"), silent)) as late:
        assert await late.read(both) == (10, 10)
        assert await late.commit(increment) == 11


async def test_a_ring_on_one_machine_rings_on_another(space: Space) -> None:
    bell = Bell()
    async with closing(inline(space.on("a"), silent)) as a, closing(threaded(space.on("b"), bell)) as b:
        await b.read(both)
        await a.commit(ringing("bell"))
        assert await bell.has_rung()


async def test_when_the_process_that_follows_the_log_ends_another_one_takes_over(space: Space) -> None:
    first, second = Bell(), Bell()
    async with closing(inline(space.on("a"), silent)) as a, closing(threaded(space.on("b"), second)) as b:
        async with closing(threaded(space.on("b"), first)) as other:
            await other.read(both)
            await b.read(both)
            await a.commit(ringing("bell"))
            await asyncio.wait([asyncio.ensure_future(bell.has_rung()) for bell in (first, second)], timeout=1)
        second.forget()
        await a.commit(ringing("bell"))
        assert await second.has_rung()


async def test_a_commit_waits_for_a_server_that_returns(own_server: NatsServer, tmp_path: Path) -> None:
    space = Space(own_server, tmp_path)
    async with closing(threaded(space.on("a"), silent)) as a:
        assert await a.commit(increment) == 1
        own_server.stop()
        waiting = asyncio.ensure_future(a.commit(increment))
        await asyncio.sleep(0)
        await asyncio.to_thread(own_server.start)
        assert await waiting == 2
        assert await a.read(both) == (2, 2)


async def test_an_unknown_outcome_is_reported_and_resolved_later(own_server: NatsServer, tmp_path: Path) -> None:
    space = Space(own_server, tmp_path)
    async with closing(threaded(space.on("a", 2), silent)) as a:
        assert await a.commit(increment) == 1
        own_server.cut_off()
        with pytest.raises(Unavailable, match="not known"):
            await a.commit(increment)
        own_server.rejoin()
        # The server has received the record meanwhile, and stores it as soon as it can.
        async with asyncio.timeout(LIMIT_S):
            while await seen(a) != (2, 2):
                continue
        assert await a.commit(increment) == 3
    async with closing(inline(space.on("b"), silent)) as b:
        assert await b.read(both) == (3, 3)


async def test_without_a_server_a_commit_fails_and_says_that_nothing_was_accepted(
    own_server: NatsServer, tmp_path: Path
) -> None:
    space = Space(own_server, tmp_path)
    async with closing(threaded(space.on("a", 1), silent)) as a:
        assert await a.commit(increment) == 1
        own_server.stop()
        await until_gone(a)
        with pytest.raises(Unavailable, match="nothing was accepted"):
            await a.commit(increment)
        own_server.start()
        assert await eventually(a) == 2


class Bell:
    """Records a ring, and reports it on an event loop."""

    def __init__(self) -> None:
        self._rung = threading.Event()

    def __call__(self, topics: Collection[Topic]) -> None:
        if "bell" in topics:
            self._rung.set()

    def forget(self) -> None:
        self._rung.clear()

    async def has_rung(self) -> bool:
        return await asyncio.to_thread(self._rung.wait, LIMIT_S)


async def delete(client: Client, stream: str) -> None:
    await ask(client, f"STREAM.DELETE.{stream}", None, LIMIT_S)


async def seen(store: ReplicatedStore) -> tuple[int, int] | None:
    """Return the counters as a commit sees them, which are never stale; None while no server answers."""
    try:
        return await store.commit(both)
    except Unavailable:
        return None


async def until_gone(store: ReplicatedStore) -> None:
    """Return when the store has noticed that no server answers."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await store.commit(both)
            except Unavailable:
                return


async def eventually(store: ReplicatedStore) -> int:
    """Return the result of a commit as soon as a server answers again."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                return await store.commit(increment)
            except Unavailable:
                continue
