"""Contract of agents."""

import asyncio

from covey.core.capacity import Capacity, Overflow
from covey.core.card import Agent, Card, TaskOverflow
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore, silent
from covey.testing.records import an_agent

BOB = AgentName("bob")
EVE = AgentName("eve")

FULL_CARD = Card(
    description="reviews code\nin two languages: ä, 語",
    capabilities=("review", "test"),
    allow_from=("alice", "eve"),
    allowed_delegates=(),
    quota=1,
    overflow=TaskOverflow.REJECT,
    workspace="/home/bob",
    command=("bob", "--serve"),
    capacity=Capacity(3, Overflow.EVICT_OLDEST),
)


class AgentsContract:
    """Fixture: `open_store`."""

    async def test_an_agent_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        agent = an_agent(card=FULL_CARD, status="reviewing")
        assert await kept(open_store, lambda tx: tx.agents.put(agent), lambda tx: tx.agents.get(BOB)) == agent

    async def test_an_agent_that_nobody_put_is_none(self, open_store: OpenStore) -> None:
        assert await kept(open_store, lambda tx: tx.agents.put(an_agent()), lambda tx: tx.agents.get(EVE)) is None

    async def test_names_differ_by_case(self, open_store: OpenStore) -> None:
        found = await kept(
            open_store, lambda tx: tx.agents.put(an_agent("Bob")), lambda tx: tx.agents.get(AgentName("bob"))
        )
        assert found is None

    async def test_putting_again_replaces_what_is_known(self, open_store: OpenStore) -> None:
        later = an_agent(status="away")
        found = await kept(open_store, lambda tx: each(tx.agents.put, an_agent(), later), lambda tx: tx.agents.get(BOB))
        assert found == later

    async def test_all_agents_are_given_by_name(self, open_store: OpenStore) -> None:
        agents = [an_agent(name) for name in ("zoe", "Al", "bob", "_x", "-y", "eve")]
        found = await kept(open_store, lambda tx: each(tx.agents.put, *agents), lambda tx: tx.agents.all())
        assert [*found] == sorted(agents, key=_name)

    async def test_numbers_count_from_one_for_each_agent(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> list[int]:
            await each(transaction.agents.put, an_agent("bob"), an_agent("eve"))
            return [await transaction.agents.next_number(name) for name in (BOB, BOB, EVE, BOB, EVE)]

        async with open_store(silent) as store:
            assert await store.commit(count) == [1, 2, 1, 3, 2]

    async def test_several_numbers_are_given_at_once(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> list[int]:
            await transaction.agents.put(an_agent())
            return [await transaction.agents.next_number(BOB, count) for count in (1, 5, 2, 1)]

        async with open_store(silent) as store:
            assert await store.commit(count) == [1, 2, 7, 9]
            assert await store.commit(lambda tx: tx.agents.next_number(BOB)) == 10

    async def test_numbers_go_on_when_the_agent_is_put_again(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> int:
            await transaction.agents.put(an_agent())
            return await transaction.agents.next_number(BOB)

        async with open_store(silent) as store:
            assert [await store.commit(count) for _ in range(3)] == [1, 2, 3]

    async def test_each_number_is_given_once_to_concurrent_commits(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(lambda tx: tx.agents.put(an_agent()))
            numbers = await asyncio.gather(*(store.commit(lambda tx: tx.agents.next_number(BOB)) for _ in range(50)))
        assert sorted(numbers) == list(range(1, 51))


def _name(agent: Agent) -> str:
    return agent.name
