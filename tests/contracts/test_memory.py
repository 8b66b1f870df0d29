"""The contracts over the memory adapter."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
from covey.testing import OpenLiveness, OpenSearch, OpenStore, OpenWakeups, Searched, closing, silent
from covey.testing.contracts import (
    AgentsContract,
    BlobsContract,
    DeliveriesContract,
    InboxesContract,
    JournalContract,
    LivenessContract,
    MessagesContract,
    OffersContract,
    SearchContract,
    SessionsContract,
    SettingsContract,
    StartedProcess,
    StartProcess,
    StoreContract,
    TicketsContract,
    TokensContract,
    WakeupsContract,
)


@pytest.fixture
def open_store() -> OpenStore:
    return lambda ring: closing(MemoryStore(ring))


@pytest.fixture
def open_wakeups() -> OpenWakeups:
    return lambda: closing(MemoryWakeups())


@pytest.fixture
def open_search() -> OpenSearch:
    @asynccontextmanager
    async def search() -> AsyncGenerator[Searched]:
        async with closing(MemoryStore(silent)) as store, closing(MemorySearch(store)) as search:
            yield Searched(store, search)

    return search


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


@pytest.fixture
def spoil_blob(blobs: MemoryBlobs) -> Callable[[str], None]:
    def spoil(digest: str) -> None:
        blobs.contents[digest] += b"!"

    return spoil


@pytest.fixture
def liveness() -> MemoryLiveness:
    return MemoryLiveness()


@pytest.fixture
def open_liveness(liveness: MemoryLiveness) -> OpenLiveness:
    return liveness.another


class TestStore(StoreContract): ...


class TestAgents(AgentsContract): ...


class TestSessions(SessionsContract): ...


class TestTokens(TokensContract): ...


class TestSettings(SettingsContract): ...


class TestMessages(MessagesContract): ...


class TestDeliveries(DeliveriesContract): ...


class TestInboxes(InboxesContract): ...


class TestOffers(OffersContract): ...


class TestTickets(TicketsContract): ...


class TestJournal(JournalContract): ...


class TestWakeups(WakeupsContract): ...


class TestBlobs(BlobsContract): ...


class TestSearch(SearchContract): ...


class TestLiveness(LivenessContract):
    @pytest.fixture
    def start_process(self, liveness: MemoryLiveness) -> StartProcess:
        def start() -> StartedProcess:
            holder = liveness.start(pid=4711)
            return StartedProcess(4711, lambda: liveness.kill(holder))

        return start
