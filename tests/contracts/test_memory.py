"""The contracts over the memory adapter."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryViews, MemoryWakeups
from covey.testing import (
    OpenLiveness,
    OpenSearch,
    OpenStore,
    OpenViews,
    OpenWakeups,
    SearchedStore,
    ViewedStore,
    closing,
    silent,
)
from covey.testing.contracts import (
    AgentsContract,
    BindingsContract,
    BlobsContract,
    BlobUpkeepContract,
    DeliveriesContract,
    FlowsContract,
    InboxesContract,
    JournalContract,
    LivenessContract,
    MessagesContract,
    OffersContract,
    PostsContract,
    PrunedContract,
    RetentionContract,
    RunsContract,
    SearchContract,
    SessionsContract,
    SettingsContract,
    StartedProcess,
    StartProcess,
    StoreContract,
    TasksContract,
    TicketsContract,
    TokensContract,
    TreesContract,
    ViewsContract,
    WaitsContract,
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
    async def search() -> AsyncGenerator[SearchedStore]:
        async with closing(MemoryStore(silent)) as store, closing(MemorySearch(store)) as search:
            yield SearchedStore(store, search)

    return search


@pytest.fixture
def open_views() -> OpenViews:
    @asynccontextmanager
    async def views() -> AsyncGenerator[ViewedStore]:
        async with closing(MemoryStore(silent)) as store:
            yield ViewedStore(store, MemoryViews(store))

    return views


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


@pytest.fixture
def spoil_blob(blobs: MemoryBlobs) -> Callable[[str], None]:
    def spoil(digest: str) -> None:
        blobs.contents[digest] += b"!"

    return spoil


@pytest.fixture
def age_blob(blobs: MemoryBlobs) -> Callable[[str], None]:
    def age(digest: str) -> None:
        blobs.used_at[digest] -= 86_400

    return age


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


class TestTasks(TasksContract): ...


class TestRuns(RunsContract): ...


class TestTickets(TicketsContract): ...


class TestPosts(PostsContract): ...


class TestBindings(BindingsContract): ...


class TestFlows(FlowsContract): ...


class TestTrees(TreesContract): ...


class TestWaits(WaitsContract): ...


class TestJournal(JournalContract): ...


class TestViews(ViewsContract): ...


class TestWakeups(WakeupsContract): ...


class TestBlobs(BlobsContract): ...


class TestBlobUpkeep(BlobUpkeepContract): ...


class TestHoldings(RetentionContract): ...


class TestPruned(PrunedContract): ...


class TestSearch(SearchContract): ...


class TestLiveness(LivenessContract):
    @pytest.fixture
    def start_process(self, liveness: MemoryLiveness) -> StartProcess:
        def start() -> StartedProcess:
            holder = liveness.start(pid=4711)
            return StartedProcess(4711, lambda: liveness.kill(holder))

        return start
