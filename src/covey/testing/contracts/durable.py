"""Contract of a durable store: for engines that declare to survive at least the end of a process."""

from covey.core.names import AgentName
from covey.ports.store import Survives, Transaction
from covey.testing.contracts.store import both, commits_around_a_close, increment
from covey.testing.everything import EVERYTHING, read_everything, write_everything
from covey.testing.opening import OpenStore, silent
from covey.testing.records import a_delivery, an_agent, an_event


async def advance(transaction: Transaction) -> tuple[int, int, int]:
    """Take the next value of each counter: a number, a seq, a position."""
    await transaction.journal.append(an_event())
    return (
        await transaction.agents.next_number(AgentName("bob")),
        (await transaction.deliveries.place(a_delivery())).seq,
        await transaction.journal.last(),
    )


class DurableStoreContract:
    """Fixture: `open_store`; a second call opens the same space."""

    async def test_it_declares_that_it_survives(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            assert store.capabilities.survives is not Survives.NOTHING

    async def test_everything_is_there_when_it_is_opened_again(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(write_everything)
            before = await store.read(read_everything)
        async with open_store(silent) as store:
            after = await store.read(read_everything)
        assert len(after) == EVERYTHING
        assert after == before

    async def test_numbers_seqs_and_positions_go_on_when_it_is_opened_again(self, open_store: OpenStore) -> None:
        counted: list[tuple[int, int, int]] = []
        for _ in range(3):
            async with open_store(silent) as store:
                await store.commit(lambda tx: tx.agents.put(an_agent()))
                counted.append(await store.commit(advance))
        numbers, seqs, positions = zip(*counted, strict=True)
        assert numbers == (1, 2, 3)
        assert list(seqs) == sorted(set(seqs))
        assert list(positions) == sorted(set(positions))

    async def test_what_was_finished_before_closing_is_there_again_and_nothing_else(
        self, open_store: OpenStore
    ) -> None:
        async with open_store(silent) as store:
            outcomes = await commits_around_a_close(store, 20)
        finished = sum(isinstance(outcome, int) for outcome in outcomes)
        async with open_store(silent) as store:
            assert await store.read(both) == (finished, finished)

    async def test_light_commits_are_there_when_it_is_opened_again(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            for _ in range(5):
                await store.commit(increment, is_light=True)
        async with open_store(silent) as store:
            assert await store.read(both) == (5, 5)

    async def test_a_space_that_was_only_opened_is_empty(self, open_store: OpenStore) -> None:
        async with open_store(silent):
            pass
        async with open_store(silent) as store:
            assert await store.read(read_everything) == ()
            assert await store.commit(increment) == 1
