"""Contracts of the store: atomic commits, one after the other, and rings only for committed changes.

The contract of a durable store is for engines that declare to survive at least the end of a process.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress

import pytest

from covey.core.errors import StoreClosed
from covey.core.names import AgentName, Topic
from covey.ports.store import Capabilities, Operation, Store, Survives, Transaction
from covey.testing.contracts.tables import EVERYTHING, read_everything, write_everything
from covey.testing.factories import OpenStore, silent
from covey.testing.records import a_delivery, a_session, an_agent, an_event


class Broken(Exception):
    """An exception that a test's own operation raises."""


async def increment(transaction: Transaction) -> int:
    """Increment two settings that must never differ."""
    number = int(await transaction.settings.get("left") or 0) + 1
    await transaction.settings.put("left", str(number))
    await transaction.settings.put("right", str(number))
    return number


async def both(transaction: Transaction) -> tuple[int, int]:
    """Return the two settings that must never differ."""
    left, right = await transaction.settings.get("left"), await transaction.settings.get("right")
    return int(left or 0), int(right or 0)


def ringing(*topics: str) -> Operation[None]:
    """Return an operation that rings `topics`."""

    async def ring(transaction: Transaction) -> None:
        for topic in topics:
            transaction.ring(Topic(topic))

    return ring


class Rings(list[Collection[Topic]]):
    """A record of the rings of a store, one entry a call."""

    def __call__(self, topics: Collection[Topic]) -> None:
        self.append(frozenset(topics))


class StoreContract:
    """Fixture: `open_store`."""

    async def test_an_engine_declares_what_it_can_do(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            assert isinstance(store.capabilities, Capabilities)
            assert store.capabilities.survives in Survives

    async def test_a_commit_returns_what_its_operation_returns(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            assert await store.commit(increment) == 1
            assert await store.read(both) == (1, 1)

    async def test_what_was_committed_is_there_for_everyone_after(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(write_everything)
            assert len(await store.read(read_everything)) == EVERYTHING
            assert len(await store.commit(read_everything)) == EVERYTHING

    async def test_a_transaction_reads_what_it_wrote(self, open_store: OpenStore) -> None:
        async def write_and_read(transaction: Transaction) -> int:
            assert await read_everything(transaction) == ()
            await write_everything(transaction)
            return len(await read_everything(transaction))

        async with open_store(silent) as store:
            assert await store.commit(write_and_read) == EVERYTHING

    async def test_an_operation_that_raises_leaves_nothing(self, open_store: OpenStore) -> None:
        async def write_and_break(transaction: Transaction) -> None:
            await write_everything(transaction)
            raise Broken

        async with open_store(silent) as store:
            with pytest.raises(Broken):
                await store.commit(write_and_break)
            assert await store.read(read_everything) == ()
            await store.commit(write_everything)
            assert len(await store.read(read_everything)) == EVERYTHING

    async def test_an_operation_that_raises_changes_nothing_that_was_there(self, open_store: OpenStore) -> None:
        async def overwrite_and_break(transaction: Transaction) -> None:
            await increment(transaction)
            await increment(transaction)
            raise Broken

        async with open_store(silent) as store:
            await store.commit(increment)
            with pytest.raises(Broken):
                await store.commit(overwrite_and_break)
            assert await store.read(both) == (1, 1)

    async def test_an_error_comes_out_as_it_was_raised(self, open_store: OpenStore) -> None:
        error = Broken("the same object")

        async def break_it(transaction: Transaction) -> None:
            raise error

        async with open_store(silent) as store:
            for run in (store.commit, store.read):
                with pytest.raises(Broken) as caught:
                    await run(break_it)
                assert caught.value is error

    async def test_commits_are_serial(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            numbers = await asyncio.gather(*(store.commit(increment) for _ in range(100)))
            assert sorted(numbers) == list(range(1, 101))
            assert await store.read(both) == (100, 100)

    async def test_every_transaction_sees_another_directory_version(self, open_store: OpenStore) -> None:
        async def version(transaction: Transaction) -> int:
            return transaction.directory_version

        async with open_store(silent) as store:
            seen = [await run(version) for _ in range(3) for run in (store.commit, store.read)]
            assert len(set(seen)) == len(seen)

    async def test_a_change_of_an_agent_a_session_or_a_setting_changes_the_directory_version(
        self, open_store: OpenStore
    ) -> None:
        async def versions(transaction: Transaction) -> list[int]:
            seen = [transaction.directory_version, transaction.directory_version]
            await transaction.agents.put(an_agent())
            seen.append(transaction.directory_version)
            await transaction.sessions.put(a_session(1))
            seen.append(transaction.directory_version)
            await transaction.settings.put("name", "value")
            return [*seen, transaction.directory_version]

        async with open_store(silent) as store:
            before, still, *later = await store.commit(versions)
            assert before == still
            assert len({before, *later}) == 4

    async def test_a_failed_commit_takes_no_other_with_it(self, open_store: OpenStore) -> None:
        async def break_after_writing(transaction: Transaction) -> int:
            await increment(transaction)
            raise Broken

        operations = [break_after_writing if n % 3 == 0 else increment for n in range(60)]
        async with open_store(silent) as store:
            outcomes = await asyncio.gather(*map(store.commit, operations), return_exceptions=True)
            assert await store.read(both) == (40, 40)
        numbers = [outcome for outcome in outcomes if isinstance(outcome, int)]
        assert sorted(numbers) == list(range(1, 41))
        assert [isinstance(outcome, Broken) for outcome in outcomes] == [n % 3 == 0 for n in range(60)]

    async def test_a_cancelled_commit_is_whole_or_not_there(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            for _ in range(20):
                task = asyncio.create_task(store.commit(increment))
                await asyncio.sleep(0)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            left, right = await store.read(both)
            assert left == right <= 20
            assert await store.commit(increment) == left + 1

    async def test_a_read_is_one_consistent_view(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:

            async def write_and_look() -> tuple[int, int]:
                view, _ = await asyncio.gather(store.read(both), store.commit(increment))
                return view

            views = await asyncio.gather(*(write_and_look() for _ in range(50)))
            assert all(left == right for left, right in views)

    async def test_a_read_holds_all_that_was_committed_before_it(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:

            async def commit_and_read() -> bool:
                mine = await store.commit(increment)
                return (await store.read(both))[0] >= mine

            assert all(await asyncio.gather(*(commit_and_read() for _ in range(30))))

    async def test_a_write_in_a_read_changes_nothing(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            with suppress(Exception):
                await store.read(write_everything)
            assert await store.read(read_everything) == ()
            await store.commit(write_everything)
            assert len(await store.read(read_everything)) == EVERYTHING

    async def test_topics_ring_once_the_commit_stands(self, open_store: OpenStore) -> None:
        rings = Rings()

        async def look_for_early_rings(transaction: Transaction) -> int:
            await ringing("a", "b", "a")(transaction)
            await increment(transaction)
            return len(rings)

        async with open_store(rings) as store:
            assert await store.commit(look_for_early_rings) == 0
            assert _topics(rings) == ["a", "b"]

    async def test_a_commit_that_rings_nothing_is_silent(self, open_store: OpenStore) -> None:
        rings = Rings()
        async with open_store(rings) as store:
            await store.commit(increment)
        assert _topics(rings) == []

    async def test_nothing_rings_for_a_commit_that_failed(self, open_store: OpenStore) -> None:
        rings = Rings()

        async def ring_and_break(transaction: Transaction) -> None:
            await ringing("a")(transaction)
            raise Broken

        async with open_store(rings) as store:
            outcomes = await asyncio.gather(
                *(store.commit(o) for o in (ring_and_break, ringing("b"), ring_and_break)), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes] == [Broken, type(None), Broken]
            await store.commit(increment)
        assert _topics(rings) == ["b"]

    async def test_every_concurrent_commit_rings_its_own(self, open_store: OpenStore) -> None:
        rings = Rings()
        async with open_store(rings) as store:

            async def commit_and_check(topic: str) -> None:
                await store.commit(ringing(topic))
                assert topic in _topics(rings), "it rings before the commit returns"

            await asyncio.gather(*(commit_and_check(f"topic-{n:02}") for n in range(30)))
        assert _topics(rings) == [f"topic-{n:02}" for n in range(30)]

    async def test_light_commits_count_and_ring_like_all_others(self, open_store: OpenStore) -> None:
        rings = Rings()
        async with open_store(rings) as store:

            async def commit_and_check(number: int) -> int:
                is_light = number % 3 > 0
                await store.commit(ringing(f"topic-{number:02}"), is_light=is_light)
                assert f"topic-{number:02}" in _topics(rings), "it rings before the commit returns"
                mine = await store.commit(increment, is_light=is_light)
                assert (await store.read(both))[0] >= mine, "it is there when the commit returns"
                return mine

            assert sorted(await asyncio.gather(*(commit_and_check(n) for n in range(30)))) == [*range(1, 31)]

            async def increment_and_break(transaction: Transaction) -> None:
                await increment(transaction)
                raise Broken

            with pytest.raises(Broken):
                await store.commit(increment_and_break, is_light=True)
            assert await store.read(both) == (30, 30)

    async def test_after_closing_everything_is_store_closed(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(increment)
            await store.close()
            with pytest.raises(StoreClosed):
                await store.commit(increment)
            with pytest.raises(StoreClosed):
                await store.read(both)

    async def test_closing_again_does_nothing(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.close()
            await store.close()

    async def test_what_was_begun_before_closing_is_finished_or_refused(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            outcomes = await commits_around_a_close(store, 20)
        numbers = [outcome for outcome in outcomes if isinstance(outcome, int)]
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
        assert all(isinstance(outcome, int | StoreClosed) for outcome in outcomes)


async def commits_around_a_close(store: Store, times: int) -> list[int | BaseException]:
    """Begin commits, close the store in between, and return the result or the exception of each commit."""
    tasks = [asyncio.create_task(store.commit(increment)) for _ in range(times)]
    await asyncio.sleep(0)
    await store.close()
    async with asyncio.timeout(10):
        return await asyncio.gather(*tasks, return_exceptions=True)


def _topics(rings: Rings) -> list[str]:
    return sorted(topic for topics in rings for topic in topics)


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
