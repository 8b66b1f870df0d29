"""Contracts of ports that real processes share: the store, wake-ups and liveness. Some processes are killed."""

import asyncio
from contextlib import closing
from itertools import chain
from typing import NamedTuple, cast

from covey.core.directory.session import Holder
from covey.core.json import Json
from covey.core.ledger.delivery import WAITING, DeliveryRecord
from covey.core.names import DeliveryId, MessageId, Topic
from covey.ports.ledger import MessageFilter
from covey.ports.store import Transaction
from covey.testing.contracts.system import NEVER, rings
from covey.testing.contracts.tables import each
from covey.testing.factories import Locator, silent
from covey.testing.jobs import INBOX
from covey.testing.records import a_delivery, an_agent
from covey.testing.workers import WorkerProcess, started

PROCESSES = 8
TIMES = 20


def run(job: str, locator: Locator, *arguments: str) -> list[list[Json]]:
    """Let eight processes do a job at once. Return the results of each."""
    with started(*(WorkerProcess(job, locator, *arguments) for _ in range(PROCESSES))) as workers:
        return [worker.finish() for worker in workers]


async def prepare(locator: Locator) -> None:
    """Create the space, with the agent bob."""
    async with locator.store(silent) as store:
        assert store.capabilities.shared
        await store.commit(lambda tx: tx.agents.put(an_agent("bob")))


class FiledCounts(NamedTuple):
    """Counts of the records of one message that a worker filed. A complete message has one of each."""

    deliveries: int
    tickets: int
    events: int


class SharedStoreContract:
    """Fixture: `store_locator`."""

    async def test_every_commit_of_every_process_counts(self, store_locator: Locator) -> None:
        await prepare(store_locator)
        told = run("count", store_locator, str(TIMES))
        assert sorted(chain(*cast(list[list[int]], told))) == list(range(1, PROCESSES * TIMES + 1))

    async def test_processes_that_open_a_new_space_at_once_all_succeed(self, store_locator: Locator) -> None:
        told = run("count", store_locator, "1")
        assert sorted(chain(*cast(list[list[int]], told))) == list(range(1, PROCESSES + 1))

    async def test_numbers_are_given_once_and_without_gaps(self, store_locator: Locator) -> None:
        await prepare(store_locator)
        told = cast(list[list[int]], run("number", store_locator, str(TIMES)))
        assert all(numbers == sorted(numbers) for numbers in told)
        assert sorted(chain(*told)) == list(range(1, PROCESSES * TIMES + 1))

    async def test_what_all_processes_place_has_one_order(self, store_locator: Locator) -> None:
        await prepare(store_locator)
        told = [*chain(*cast(list[list[tuple[int, DeliveryId]]], run("place", store_locator, str(TIMES))))]
        async with store_locator.store(silent) as store:
            waiting = await store.read(lambda tx: tx.inboxes.waiting(INBOX, WAITING))
            later = await store.commit(lambda tx: tx.deliveries.place(a_delivery()))
        assert len({seq for seq, _ in told}) == PROCESSES * TIMES
        assert [(delivery.seq, delivery.id) for delivery in waiting] == sorted((seq, id_) for seq, id_ in told)
        assert later.seq > max(seq for seq, _ in told)

    async def test_nothing_is_claimed_twice(self, store_locator: Locator) -> None:
        await prepare(store_locator)
        mail = [a_delivery(n) for n in range(PROCESSES * TIMES)]
        async with store_locator.store(silent) as store:
            await store.commit(lambda tx: each(tx.deliveries.place, *mail))
        told = cast(list[list[DeliveryId]], run("claim", store_locator))
        claimed = [*chain(*told)]
        assert len(claimed) == len(set(claimed))
        assert set(claimed) == {delivery.id for delivery in mail}

    async def test_a_reader_that_follows_the_journal_misses_nothing(self, store_locator: Locator) -> None:
        await prepare(store_locator)
        total = (PROCESSES - 1) * TIMES
        writers = [WorkerProcess("append", store_locator, str(TIMES)) for _ in range(PROCESSES - 1)]
        with started(WorkerProcess("follow", store_locator, str(total)), *writers) as (reader, *others):
            seen = cast(list[tuple[int, int, int]], reader.finish())
            written = [cast(list[list[int]], writer.finish()) for writer in others]
        positions = [position for position, _, _ in seen]
        assert positions == sorted(set(positions))
        for of_one_writer in written:
            writer = of_one_writer[0][0]
            assert [[pid, n] for _, pid, n in seen if pid == writer] == of_one_writer
        assert len(seen) == total

    async def test_what_a_killed_process_was_told_is_there_and_nothing_is_half_done(
        self, store_locator: Locator
    ) -> None:
        await prepare(store_locator)
        accepted: list[MessageId] = []
        for enough in (1, 7, 30):
            with started(*(WorkerProcess("deal", store_locator) for _ in range(PROCESSES // 2))) as workers:
                # All workers are killed once the first has reported enough, at any point of their commits.
                accepted += [cast(MessageId, workers[0].next_result()) for _ in range(enough)]
                for worker in workers:
                    worker.kill()
                accepted += [cast(MessageId, result) for worker in workers for result in worker.results()]

        async with store_locator.store(silent) as store:
            dealt, numbers = await store.read(what_was_dealt)
            assert await store.commit(lambda tx: tx.agents.next_number(an_agent("bob").name)) == len(numbers) + 1
        assert set(accepted) <= set(dealt)
        assert set(dealt.values()) == {FiledCounts(deliveries=1, tickets=1, events=1)}
        assert numbers == list(range(1, len(dealt) + 1))


async def what_was_dealt(transaction: Transaction) -> tuple[dict[MessageId, FiledCounts], list[int]]:
    """Return the record counts of each message, and the numbers of all deliveries in the order of the inbox."""
    messages = await transaction.messages.find(MessageFilter(), 100_000)
    events = [event.message_id for event in await transaction.journal.read(0, 100_000)]
    dealt = {
        message.id: FiledCounts(
            len(await transaction.deliveries.of_message(message.id)),
            len(await transaction.tickets.of_message(message.id)),
            events.count(message.id),
        )
        for message in messages
    }
    waiting: list[DeliveryRecord] = [*await transaction.inboxes.waiting(INBOX, WAITING, limit=100_000)]
    return dealt, [delivery.number for delivery in waiting]


TOPIC = Topic("session:shared")


class SharedWakeupsContract:
    """Fixture: `wakeups_locator`."""

    async def test_a_ring_of_another_process_wakes(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups, wakeups.listen([TOPIC]) as bell:
            waiting = asyncio.create_task(rings(bell))
            with started(WorkerProcess("ring", wakeups_locator, TOPIC)) as (ringer,):
                assert await waiting
                ringer.finish()

    async def test_another_process_does_not_wake_who_listens_to_something_else(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups, wakeups.listen([TOPIC]) as bell:
            with started(WorkerProcess("ring", wakeups_locator, "session:other")) as (ringer,):
                ringer.finish()
            assert not await bell.wait(NEVER)

    async def test_every_process_that_listens_is_woken(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(*(WorkerProcess("listen", wakeups_locator, TOPIC) for _ in range(3))) as listeners:
                assert [listener.next_result() for listener in listeners] == ["listening"] * 3
                wakeups.ring([TOPIC])
                assert [listener.next_result() for listener in listeners] == ["heard"] * 3

    async def test_a_listener_that_was_killed_disturbs_nobody(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(WorkerProcess("listen", wakeups_locator, TOPIC)) as (listener,):
                assert listener.next_result() == "listening"
                listener.kill()
            async with wakeups.listen([TOPIC]) as bell:
                for _ in range(3):
                    wakeups.ring([TOPIC])
                    assert await rings(bell)

    async def test_a_listener_that_is_stopped_holds_nobody_up(self, wakeups_locator: Locator) -> None:
        async with wakeups_locator.wakeups() as wakeups:
            with started(WorkerProcess("listen", wakeups_locator, TOPIC)) as (listener,):
                assert listener.next_result() == "listening"
                listener.stop()
                async with wakeups.listen([TOPIC]) as bell:
                    for _ in range(5000):
                        wakeups.ring([TOPIC])
                    assert await rings(bell)


class SharedLivenessContract:
    """Fixture: `liveness_locator`."""

    def test_what_a_process_holds_is_held_until_it_is_killed(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(WorkerProcess("hold", liveness_locator)) as (worker,):
            holder = held_by(worker)
            assert liveness.is_held(holder)
            worker.kill()
            assert not liveness.is_held(holder)

    def test_the_death_of_one_process_is_not_that_of_another(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(*(WorkerProcess("hold", liveness_locator) for _ in range(3))) as workers:
            holders = [held_by(worker) for worker in workers]
            assert len(set(holders)) == 3
            workers[0].kill()
            assert [liveness.is_held(holder) for holder in holders] == [False, True, True]

    def test_a_process_that_is_stopped_still_holds(self, liveness_locator: Locator) -> None:
        liveness = liveness_locator.liveness()
        with closing(liveness), started(WorkerProcess("hold", liveness_locator)) as (worker,):
            holder = held_by(worker)
            worker.stop()
            assert liveness.is_held(holder)


def held_by(worker: WorkerProcess) -> Holder:
    """Return the holder that a worker reports."""
    return Holder(*cast(tuple[str | None, int | None, str | None], worker.next_result()))
