"""Contract of waits."""

from covey.core.names import AgentName
from covey.core.waits import Wait
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_message_id, a_wait, at

ALICE = AgentName("alice")


class WaitsContract:
    """Fixture: `open_store`."""

    async def test_a_wait_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        for wait in (a_wait(), Wait(ALICE, a_message_id(3), None, at(0.5), at(99.5), False, True)):
            found = await kept(
                open_store, lambda tx, wait=wait: tx.waits.put(wait), lambda tx, wait=wait: tx.waits.of(wait.asker)
            )
            assert wait in found

    async def test_waiting_for_the_same_thing_again_replaces_the_first(self, open_store: OpenStore) -> None:
        again = a_wait()._replace(session=None, until=at(500))
        found = await kept(open_store, lambda tx: each(tx.waits.put, a_wait(), again), lambda tx: tx.waits.of(ALICE))
        assert [*found] == [again]

    async def test_each_agent_has_its_own_by_what_it_waits_for(self, open_store: OpenStore) -> None:
        waits = [a_wait(2), a_wait(1), a_wait(1, asker="bob"), a_wait(3, asker="al")]

        async def look(transaction: Transaction) -> list[list[Wait]]:
            return [[*await transaction.waits.of(AgentName(name))] for name in ("alice", "bob", "carol")]

        found = await kept(open_store, lambda tx: each(tx.waits.put, *waits), look)
        assert found == [[waits[1], waits[0]], [waits[2]], []]

    async def test_all_are_given_by_agent_then_by_what_they_wait_for(self, open_store: OpenStore) -> None:
        waits = [a_wait(2), a_wait(1), a_wait(1, asker="bob"), a_wait(3, asker="al")]
        found = await kept(open_store, lambda tx: each(tx.waits.put, *waits), lambda tx: tx.waits.all())
        assert [*found] == [waits[3], waits[1], waits[0], waits[2]]

    async def test_a_wait_is_removed_alone_and_twice_without_harm(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await each(transaction.waits.put, a_wait(1), a_wait(2), a_wait(1, asker="bob"))
            for _ in range(2):
                await transaction.waits.remove(ALICE, a_wait(1).what)

        assert [*await kept(open_store, write, lambda tx: tx.waits.all())] == [a_wait(2), a_wait(1, asker="bob")]
