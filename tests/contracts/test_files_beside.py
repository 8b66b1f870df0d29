"""The contracts over the files store while a foreign program works in the same folder.

Most tests are about named records, and pass whatever other programs add: beside these, the foreign program sends,
answers, archives and sweeps. Some tests are about everything in a space, or about every wake-up. Foreign records would
break them, so beside these the program makes no records: only junk, partial files, moves, lines in the manifest, and a
registry that is rewritten without Covey's entries.
"""

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from covey.adapters.folder.disk_layout import prepare
from covey.core.formats.layout import Layout
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
from tests.contracts.beside import busy_in, started
from tests.foreign.running import Neighbour

WHOLE: Final = frozenset(
    {
        "TestStore",
        "TestDurable",
        "TestShared",
        "TestJournal",
        "TestViews",
        "TestPruned",
        "TestHoldings",
        "TestTrees",
        "test_all_agents_are_given_by_name",
        "test_debtors_are_all_who_owe_something",
        "test_find_gives_the_newest_with_the_oldest_of_them_first",
        "test_one_wish_leaves_the_rest_open",
        "test_occupied_are_the_inboxes_in_which_something_waits",
        "test_the_lag_is_what_is_not_taken_in_yet",
    }
)
"""Contracts and tests that are about everything in a space."""


@pytest.fixture(scope="module")
def others() -> Generator[Neighbour]:
    with started() as program:
        yield program


@pytest.fixture(params=["dialogue_inline", "mailbox_threaded"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def root(tmp_path: Path, way: str, others: Neighbour, request: pytest.FixtureRequest) -> Generator[str]:
    folder, layout = tmp_path / "shared", way.partition("_")[0]
    prepare(str(folder), Layout(layout))
    is_about_all = not WHOLE.isdisjoint(request.node.nodeid.partition("[")[0].split("::"))
    with busy_in(others, folder, layout, "quiet" if is_about_all else "lively"):
        yield str(folder)


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
