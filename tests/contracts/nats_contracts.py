"""Fixtures and contracts for a replicated store on NATS, whatever the number of nodes.

A module that imports them defines the fixture `place`.
"""

from functools import partial

import pytest

from covey.testing import Locator, OpenSearch, OpenStore, OpenViews
from covey.testing.contracts import (
    AgentsContract,
    BindingsContract,
    DeliveriesContract,
    FlowsContract,
    InboxesContract,
    JournalContract,
    MessagesContract,
    OffersContract,
    PostsContract,
    PrunedContract,
    RetentionContract,
    RunsContract,
    SessionsContract,
    SettingsContract,
    TasksContract,
    TicketsContract,
    TokensContract,
    TreesContract,
    WaitsContract,
)
from tests.contracts import nats_space

WAYS = {
    "inline": nats_space.open_inline,
    "threaded": nats_space.open_threaded,
    "apart": nats_space.open_apart,
}
"""Ways to open the store: on one machine, in the calling thread or with threads; or each on its own machine."""

VIEWS = {"inline": nats_space.views_inline, "threaded": nats_space.views_threaded, "apart": nats_space.views_apart}
SEARCHES = {
    "inline": nats_space.search_inline,
    "threaded": nats_space.search_threaded,
    "apart": nats_space.search_apart,
}


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """Return the way to open a store. The records do not depend on it."""
    return getattr(request, "param", "apart")


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


class TestHoldings(RetentionContract): ...


class TestPruned(PrunedContract): ...
