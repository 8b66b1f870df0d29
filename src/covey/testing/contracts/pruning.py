"""Contract of pruning: the removal of messages, offers and runs, and the memory of removed ids."""

import pytest

from covey.core.channels.post import PostState
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.ticket import TicketState
from covey.core.names import MessageId
from covey.core.work.run import Run, RunState
from covey.core.work.task import TaskState
from covey.ports.ledger import MessageFilter
from covey.ports.pruning import RemovedCounts
from covey.ports.store import Transaction
from covey.ports.work import RunFilter, TaskFilter
from covey.testing.contracts.messages import add
from covey.testing.contracts.tables import each
from covey.testing.factories import OpenStore, silent
from covey.testing.records import (
    START,
    a_delivery,
    a_message,
    a_message_id,
    a_post,
    a_run,
    a_task,
    a_ticket,
    an_agent,
    an_event,
    an_offer,
    an_offer_id,
)

HANDLED = DeliveryState.HANDLED
FIRST, SECOND = a_message_id(1), a_message_id(2)


async def two_messages(tx: Transaction) -> None:
    """File two closed messages with all their records."""
    await tx.agents.put(an_agent())
    await add(tx, a_message(1), a_message(2))
    await each(tx.deliveries.place, *(a_delivery(n, copy, state=HANDLED) for n in (1, 2) for copy in (1, 2)))
    await each(tx.tickets.put, *(a_ticket(n, state=TicketState.CLOSED) for n in (1, 2)))
    await each(tx.tasks.put, *(a_task(n, state=TaskState.FAILED) for n in (1, 2)))
    await each(tx.posts.put, *(a_post(n, state=PostState.DELIVERED) for n in (1, 2)))
    await each(tx.runs.put, *(a_run(n, state=RunState.STOPPED) for n in (1, 2)))
    await each(tx.journal.append, *(an_event(n) for n in (1, 2, 1)))


async def left(tx: Transaction) -> list[object]:
    """Return the remaining records of the first message."""
    records = (
        await tx.messages.get(FIRST),
        *await tx.deliveries.of_message(FIRST),
        *await tx.tickets.of_message(FIRST),
        *await tx.messages.thread(FIRST),
        await tx.tasks.get(FIRST),
        await tx.posts.get(a_post(1).id),
        await tx.runs.get(a_run(1).id),
        *(event for event in await tx.journal.read(0, 100) if event.message_id == FIRST),
    )
    return [record for record in records if record is not None]


def offer_event(n: int, action: Action = Action.OFFER_MADE) -> Event:
    return an_event(n, action=action, details={"offer": an_offer_id(n)})._replace(message_id=None)


class PrunedContract:
    """Fixture: `open_store`."""

    async def test_what_is_removed_is_gone_with_all_that_belongs_to_it(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            others = await store.read(lambda tx: tx.deliveries.of_message(SECOND))
            removed = await store.commit(lambda tx: tx.pruned.remove([FIRST]))
            assert removed == RemovedCounts(
                messages=1, deliveries=2, tickets=1, offers=0, events=2, tasks=1, posts=1, runs=1
            )
            assert await store.read(left) == []
            assert await store.read(lambda tx: tx.deliveries.of_message(SECOND)) == others
            assert (await store.read(lambda tx: tx.messages.get(SECOND))) == a_message(2)
            assert [task.id for task in await store.read(lambda tx: tx.tasks.find(TaskFilter(), 10))] == [SECOND]
            assert (await store.read(lambda tx: tx.posts.get(a_post(2).id))) is not None
            assert [run.request for run in await store.read(lambda tx: tx.runs.find(RunFilter(), 10))] == [SECOND]
            assert len(await store.read(lambda tx: tx.journal.read(0, 100))) == 1

    async def test_its_id_is_remembered(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.pruned.remove([FIRST]))
            assert await store.read(lambda tx: tx.pruned.has(FIRST))
            assert not await store.read(lambda tx: tx.pruned.has(SECOND))
            assert await store.read(lambda tx: tx.pruned.count()) == 1

    async def test_a_removal_that_is_undone_has_removed_nothing(self, open_store: OpenStore) -> None:
        async def remove_and_break(tx: Transaction) -> None:
            await tx.pruned.remove([FIRST])
            await add(tx, a_message(3))
            raise KeyError

        async with open_store(silent) as store:
            await store.commit(two_messages)
            before = await store.read(left)
            order = await store.read(_order)
            with pytest.raises(KeyError):
                await store.commit(remove_and_break)
            assert await store.read(left) == before
            assert await store.read(_order) == order
            assert not await store.read(lambda tx: tx.pruned.has(FIRST))

    @pytest.mark.parametrize("state", [DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.IN_CONTEXT])
    async def test_what_waits_is_not_removed(self, open_store: OpenStore, state: DeliveryState) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.deliveries.place(a_delivery(1, 3, state=state)))
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove([SECOND, FIRST]))
            assert not await store.read(lambda tx: tx.pruned.has(SECOND))
            assert await store.read(lambda tx: tx.messages.get(SECOND)) is not None

    @pytest.mark.parametrize("state", [TicketState.OPEN, TicketState.ANSWERED])
    async def test_what_is_owed_is_not_removed(self, open_store: OpenStore, state: TicketState) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.tickets.put(a_ticket(1, debtor="eve", state=state)))
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove([FIRST]))
            assert await store.read(lambda tx: tx.messages.get(FIRST)) is not None

    async def test_what_is_still_to_be_posted_is_not_removed(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.posts.put(a_post(1)))
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove([FIRST]))
            assert await store.read(lambda tx: tx.messages.get(FIRST)) is not None

    @pytest.mark.parametrize("state", [TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING])
    async def test_what_is_not_finished_is_not_removed(self, open_store: OpenStore, state: TaskState) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.tasks.put(a_task(1, state=state)))
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove([SECOND, FIRST]))
            assert await store.read(lambda tx: tx.tasks.get(SECOND)) is not None
            assert await store.read(lambda tx: tx.messages.get(FIRST)) is not None

    @pytest.mark.parametrize(
        "run",
        [
            a_run(),
            a_run(state=RunState.STARTING),
            a_run(state=RunState.LOST, is_told=False),
            a_run(state=RunState.COMPLETED, folder="/runs/1"),
        ],
    )
    async def test_what_began_a_run_that_is_not_done_with_is_not_removed(self, open_store: OpenStore, run: Run) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.runs.put(run))
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove([SECOND, FIRST]))
            assert await store.read(lambda tx: tx.runs.get(a_run(2).id)) is not None
            assert await store.read(lambda tx: tx.messages.get(FIRST)) is not None

    async def test_what_is_not_there_cannot_be_removed(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(two_messages)
            await store.commit(lambda tx: tx.pruned.remove([FIRST]))
            for message_id in (FIRST, a_message_id(9)):
                with pytest.raises(LookupError):
                    await store.commit(lambda tx, gone=message_id: tx.pruned.remove([gone]))
            assert await store.read(lambda tx: tx.pruned.count()) == 1

    async def test_a_run_that_was_never_asked_anything_goes_with_its_events(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await two_messages(tx)
            await tx.runs.put(a_run(3, state=RunState.FAILED))
            await each(tx.journal.append, *(an_event(n) for n in (3, 3)))

        async with open_store(silent) as store:
            await store.commit(write)
            removed = await store.commit(lambda tx: tx.pruned.remove_runs([a_run(3).id]))
            assert removed == RemovedCounts(runs=1, events=2)
            runs = await store.read(lambda tx: tx.runs.find(RunFilter(), 10))
            assert [run.id for run in runs] == [a_run(1).id, a_run(2).id]
            assert {event.message_id for event in await store.read(lambda tx: tx.journal.read(0, 100))} == {
                FIRST,
                SECOND,
            }
            assert await store.read(lambda tx: tx.pruned.count()) == 0

    @pytest.mark.parametrize(
        "run",
        [
            a_run(1, state=RunState.STOPPED),  # its message still exists
            a_run(3, state=RunState.STARTING),
            a_run(3, state=RunState.LOST, is_told=False),
            a_run(3, state=RunState.FAILED, folder="/runs/3"),
            None,
        ],
    )
    async def test_other_runs_do_not_go_by_themselves(self, open_store: OpenStore, run: Run | None) -> None:
        async def write(tx: Transaction) -> None:
            await two_messages(tx)
            await tx.runs.put(a_run(4, state=RunState.FAILED))
            if run is not None:
                await tx.runs.put(run)

        async with open_store(silent) as store:
            await store.commit(write)
            ids = [a_run(4).id, a_run(9).id if run is None else run.id]
            with pytest.raises(LookupError):
                await store.commit(lambda tx: tx.pruned.remove_runs(ids))
            assert await store.read(lambda tx: tx.runs.get(a_run(4).id)) is not None

    async def test_numbers_go_on_after_the_newest_was_removed(self, open_store: OpenStore) -> None:
        async def remove_and_bury(tx: Transaction) -> None:
            await tx.pruned.remove([FIRST, SECOND])
            await tx.journal.append(an_event(3, action=Action.MESSAGES_PRUNED))

        async with open_store(silent) as store:
            await store.commit(two_messages)
            last = await store.read(lambda tx: tx.journal.last())
            seqs = [copy.seq for copy in await store.read(lambda tx: tx.deliveries.of_message(SECOND))]
            await store.commit(remove_and_bury)
            placed = await store.commit(lambda tx: tx.deliveries.place(a_delivery(3)))
            assert placed.seq > max(seqs)
            assert await store.read(lambda tx: tx.journal.last()) > last

    async def test_an_offer_that_shows_nothing_any_more_goes_with_its_events(self, open_store: OpenStore) -> None:
        shows_both = an_offer(3, ended_at=START)._replace(deliveries=(f"{FIRST}.1", f"{SECOND}.1"))
        is_live = an_offer(4)._replace(deliveries=(f"{FIRST}.1",))

        async def write(tx: Transaction) -> None:
            await two_messages(tx)
            await each(tx.offers.put, an_offer(1, ended_at=START), an_offer(2, ended_at=START), shows_both, is_live)
            await each(tx.journal.append, *(offer_event(n) for n in (1, 2, 3, 4)))
            await tx.journal.append(offer_event(1, Action.EVIDENCE))
            await tx.journal.append(offer_event(1, Action.OFFER_RENEWED))
            await tx.pruned.remove([FIRST])

        async with open_store(silent) as store:
            await store.commit(write)
            removed = RemovedCounts()
            after: int | None = 0
            while after is not None:
                some, after = await store.commit(lambda tx, after=after: tx.pruned.remove_offers(after, 2))
                removed = RemovedCounts(*(a + b for a, b in zip(removed, some, strict=True)))
            assert removed == RemovedCounts(offers=1, events=3)
            found = [await store.read(lambda tx, n=n: tx.offers.get(an_offer_id(n))) for n in (1, 2, 3, 4)]
            assert [offer is None for offer in found] == [True, False, False, False]
            events = await store.read(lambda tx: tx.journal.read(0, 100))
            named = [event.details.get("offer") for event in events if event.action is Action.OFFER_MADE]
            assert named == [an_offer_id(n) for n in (2, 3, 4)]

    async def test_ids_that_were_removed_elsewhere_are_remembered(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(lambda tx: tx.pruned.remember([FIRST, SECOND]))
            assert await store.read(lambda tx: tx.pruned.has(FIRST))
            assert await store.read(lambda tx: tx.pruned.count()) == 2


async def _order(tx: Transaction) -> list[MessageId]:
    """Return the messages in the order of acceptance."""
    return [message.id for message in await tx.messages.find(MessageFilter(), 10)]
