"""The contracts over the files store, alone in its folder: each layout, one of them with its own threads."""

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
from tests.contracts import files_space


@pytest.fixture(params=["dialogue_threaded", "mailbox_inline"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "shared")


@pytest.fixture
def open_store(way: str, root: str) -> OpenStore:
    return partial(files_space.WAYS[way], root)


@pytest.fixture
def store_locator(way: str, root: str) -> Locator:
    return Locator(f"{files_space.__name__}:{way}", root)


@pytest.fixture
def open_views(way: str, root: str) -> OpenViews:
    return partial(files_space.views, way, root)


@pytest.fixture
def open_search(way: str, root: str) -> OpenSearch:
    return partial(files_space.search, way, root)


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
