"""Small operations and programs for these tests; child processes use them too."""

from collections.abc import Sequence
from pathlib import Path

from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.names import AgentName, Topic
from covey.ports.store import Operation, Transaction
from covey.testing import an_agent

LIMIT_S = 10.0


def register(name: str, topic: str | None = None) -> Operation[str]:
    """Return an operation that adds an agent and rings."""

    async def operation(transaction: Transaction) -> str:
        await transaction.agents.put(an_agent(name))
        if topic is not None:
            transaction.ring(Topic(topic))
        return name

    return operation


def register_and_fail(name: str) -> Operation[None]:
    """Return an operation that adds an agent, takes its next number, rings, and raises ValueError with its name."""

    async def operation(transaction: Transaction) -> None:
        await transaction.agents.put(an_agent(name))
        await transaction.agents.next_number(AgentName(name))
        transaction.ring(Topic(f"failed:{name}"))
        raise ValueError(name)

    return operation


async def names(transaction: Transaction) -> Sequence[str]:
    """Read the names of all agents."""
    return [agent.name for agent in await transaction.agents.all()]


def make_store(path: Path) -> None:
    """Make a store with one agent, and leave no other files next to it."""
    store = SqliteStore(path)
    finish(store.commit(register("bob")))
    finish(store.close())


def names_in(path: Path) -> Sequence[str]:
    """Open the store and read the names of all agents."""
    store = SqliteStore(path)
    try:
        return finish(store.read(names))
    finally:
        finish(store.close())
