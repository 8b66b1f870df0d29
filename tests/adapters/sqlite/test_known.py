"""A connection's cache of agents, sessions and settings, while other processes write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.directory.card import Agent, Card
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.testing.records import START, a_token

CODER = AgentName("coder")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    path = tmp_path / "covey.db"
    ours, theirs = SqliteStore(str(path)), SqliteStore(str(path))
    yield ours, theirs
    finish(ours.close())
    finish(theirs.close())


def put(store: SqliteStore, description: str, *, fails: bool = False) -> None:
    async def operation(tx: Transaction) -> None:
        await tx.agents.put(Agent(CODER, Card(description=description), START))
        if fails:
            raise LookupError

    finish(store.commit(operation))


def get(store: SqliteStore) -> Agent | None:
    async def operation(tx: Transaction) -> Agent | None:
        return await tx.agents.get(CODER)

    return finish(store.commit(operation))


def set_mood(store: SqliteStore, mood: str, *, fails: bool = False) -> None:
    async def operation(tx: Transaction) -> None:
        await tx.settings.put("mood", mood)
        if fails:
            raise LookupError

    finish(store.commit(operation))


def mood(store: SqliteStore) -> str | None:
    return finish(store.read(lambda tx: tx.settings.get("mood")))


def write(store: SqliteStore, n: int) -> None:
    finish(store.commit(lambda tx: tx.tokens.put(a_token(n))))


def test_an_agent_stays_cached_while_other_processes_change_other_records(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    ours, theirs = stores
    put(ours, "writes code")
    write(theirs, 1)
    seen = get(ours)
    write(theirs, 2)
    assert get(ours) is seen


def test_a_setting_that_another_process_changed_is_seen_at_once(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    assert mood(ours) is None  # a missing setting is cached too
    for wanted in ("calm", "", "wild"):
        set_mood(theirs, wanted)
        assert mood(ours) == wanted
        with pytest.raises(LookupError):
            set_mood(ours, "undone", fails=True)
        assert mood(ours) == mood(theirs) == wanted


def test_an_agent_that_another_process_changed_is_seen_at_once(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    for description in ("writes code", "reads code", "sleeps"):
        put(theirs, description)
        agent = get(ours)
        assert agent is not None
        assert agent.card.description == description


def test_a_change_that_was_rolled_back_is_not_cached(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours = stores[0]
    put(ours, "writes code")
    with pytest.raises(LookupError):
        put(ours, "sleeps", fails=True)
    for store in stores:
        agent = get(store)
        assert agent is not None
        assert agent.card.description == "writes code"
