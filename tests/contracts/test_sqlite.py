"""The contracts over the SQLite adapter: in the calling thread, and with its own threads."""

from functools import partial
from pathlib import Path

import pytest

from covey.testing import Locator, OpenSearch, OpenStore, OpenViews
from covey.testing.contracts import (
    AgentsContract,
    BindingsContract,
    DeliveriesContract,
    DurableStoreContract,
    FlowsContract,
    InboxesContract,
    JournalContract,
    MessagesContract,
    OffersContract,
    PostsContract,
    PrunedContract,
    RetentionContract,
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
from tests.contracts import sqlite_space

WAYS = {"inline": sqlite_space.open_inline, "threaded": sqlite_space.open_threaded}
VIEWS = {"inline": sqlite_space.views_inline, "threaded": sqlite_space.views_threaded}
SEARCHES = {"inline": sqlite_space.search_inline, "threaded": sqlite_space.search_threaded}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "covey.db")


@pytest.fixture
def open_store(way: str, path: str) -> OpenStore:
    return partial(WAYS[way], path)


@pytest.fixture
def store_locator(way: str, path: str) -> Locator:
    return Locator(f"{sqlite_space.__name__}:open_{way}", path)


@pytest.fixture
def open_views(way: str, path: str) -> OpenViews:
    return partial(VIEWS[way], path)


@pytest.fixture
def open_search(way: str, path: str) -> OpenSearch:
    return partial(SEARCHES[way], path)


class TestStore(StoreContract): ...


class TestDurable(DurableStoreContract): ...


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


class TestFlows(FlowsContract): ...


class TestTrees(TreesContract): ...


class TestWaits(WaitsContract): ...


class TestJournal(JournalContract): ...


class TestViews(ViewsContract): ...


class TestHoldings(RetentionContract): ...


class TestPruned(PrunedContract): ...


class TestSearch(SearchContract): ...
