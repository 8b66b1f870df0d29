"""What a connection remembers of agents and sessions, while other processes write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.adapters.sqlite.store import SqliteStore
from covey.core.card import Agent, Card
from covey.core.drive import finish
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.testing.records import START

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


def set_mood(store: SqliteStore) -> None:
    async def operation(tx: Transaction) -> None:
        await tx.settings.put("mood", "calm")

    finish(store.commit(operation))


def test_an_agent_is_remembered_while_others_change_something_else(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    put(ours, "writes code")
    set_mood(theirs)
    seen = get(ours)
    set_mood(theirs)
    assert get(ours) is seen


def test_what_another_process_changed_is_seen_at_once(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = stores
    for description in ("writes code", "reads code", "sleeps"):
        put(theirs, description)
        agent = get(ours)
        assert agent is not None
        assert agent.card.description == description


def test_what_was_undone_is_not_remembered(stores: tuple[SqliteStore, SqliteStore]) -> None:
    ours = stores[0]
    put(ours, "writes code")
    with pytest.raises(LookupError):
        put(ours, "sleeps", fails=True)
    for store in stores:
        agent = get(store)
        assert agent is not None
        assert agent.card.description == "writes code"
