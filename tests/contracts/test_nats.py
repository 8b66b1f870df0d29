"""The contracts over a replicated store on one NATS node: on one machine and on several."""

import uuid
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

from covey.testing import Locator, OpenSearch, OpenStore, OpenViews
from covey.testing.contracts import (
    AgentsContract,
    BindingsContract,
    DeliveriesContract,
    DurableStoreContract,
    HoldingsContract,
    InboxesContract,
    JournalContract,
    MessagesContract,
    OffersContract,
    PostsContract,
    PrunedContract,
    RunsContract,
    SearchContract,
    SessionsContract,
    SettingsContract,
    SharedStoreContract,
    StoreContract,
    TasksContract,
    TicketsContract,
    TokensContract,
    TreesContract,
    ViewsContract,
    WaitsContract,
)
from tests.contracts import nats_space
from tests.nats.servers import one_node

WAYS = {
    "inline": nats_space.open_inline,
    "threaded": nats_space.open_threaded,
    "apart": nats_space.open_apart,
}
"""All on one machine, in the calling thread or with threads; or each on a machine of its own."""

VIEWS = {"inline": nats_space.views_inline, "threaded": nats_space.views_threaded, "apart": nats_space.views_apart}
SEARCHES = {
    "inline": nats_space.search_inline,
    "threaded": nats_space.search_threaded,
    "apart": nats_space.search_apart,
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with one_node(tmp_path_factory.mktemp("one")) as server:
        yield server.url


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How a store is opened; what a record is like does not depend on it."""
    return getattr(request, "param", "apart")


@pytest.fixture
def place(servers: str, tmp_path: Path) -> str:
    """A space of its own, and a folder for its replicas."""
    return f"{servers}/{uuid.uuid4().hex}?cache={tmp_path}"


@pytest.fixture
def open_store(way: str, place: str) -> OpenStore:
    return partial(WAYS[way], place)


@pytest.fixture
def store_locator(way: str, place: str) -> Locator:
    return Locator(f"{nats_space.__name__}:open_{way}", place)


@pytest.fixture
def open_views(way: str, place: str) -> OpenViews:
    return partial(VIEWS[way], place)


@pytest.fixture
def open_search(way: str, place: str) -> OpenSearch:
    return partial(SEARCHES[way], place)


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestStore(StoreContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestDurable(DurableStoreContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestShared(SharedStoreContract): ...


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


class TestTrees(TreesContract): ...


class TestWaits(WaitsContract): ...


class TestJournal(JournalContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestViews(ViewsContract): ...


class TestHoldings(HoldingsContract): ...


class TestPruned(PrunedContract): ...


@pytest.mark.parametrize("way", WAYS, indirect=True)
class TestSearch(SearchContract): ...
