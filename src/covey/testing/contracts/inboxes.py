"""Contract of inboxes."""

from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind
from covey.core.names import AgentName, DeliveryId, InboxId, Scope, Subject, parked_inbox, session_inbox
from covey.ports.store import Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore
from covey.testing.records import a_delivery, a_session_id

HERE, THERE = session_inbox(a_session_id(1)), parked_inbox(AgentName("bob"))
ALICE = AgentName("alice")


async def fill(transaction: Transaction, *deliveries: DeliveryRecord) -> None:
    """Place deliveries in turn."""
    await each(transaction.deliveries.place, *deliveries)


def here(n: int, kind: Kind = Kind.NOTIFY, state: DeliveryState = DeliveryState.QUEUED) -> DeliveryRecord:
    """Return a delivery in the inbox under test."""
    return a_delivery(n, inbox=HERE, kind=kind, state=state)


class InboxesContract:
    """Fixture: `open_store`."""

    async def test_what_waits_is_given_by_seq(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[DeliveryId]:
            return [delivery.id for delivery in await transaction.inboxes.waiting(HERE, WAITING)]

        found = await kept(
            open_store,
            lambda tx: fill(tx, here(3), here(1, Kind.REQUEST), a_delivery(9, inbox=THERE), here(2, Kind.TASK)),
            look,
        )
        assert found == [here(3).id, here(1).id, here(2).id]

    async def test_only_the_states_that_are_asked_for_are_given(self, open_store: OpenStore) -> None:
        deliveries = [here(n, state=state) for n, state in enumerate(DeliveryState, 1)]
        asked = (WAITING, {DeliveryState.QUEUED}, {DeliveryState.OFFERED, DeliveryState.IN_CONTEXT}, ())

        async def look(transaction: Transaction) -> list[set[DeliveryState]]:
            return [{d.state for d in await transaction.inboxes.waiting(HERE, states)} for states in asked]

        assert await kept(open_store, lambda tx: fill(tx, *deliveries), look) == [set(states) for states in asked]

    async def test_waiting_goes_on_after_a_seq_up_to_a_limit(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[list[DeliveryId]]:
            first = await transaction.inboxes.waiting(HERE, WAITING, limit=2)
            then = await transaction.inboxes.waiting(HERE, WAITING, after=first[-1].seq, limit=2)
            last = await transaction.inboxes.waiting(HERE, WAITING, after=then[-1].seq, limit=2)
            return [[delivery.id for delivery in page] for page in (first, then, last)]

        ids = [here(n).id for n in range(1, 6)]
        found = await kept(open_store, lambda tx: fill(tx, *(here(n) for n in range(1, 6))), look)
        assert found == [ids[:2], ids[2:4], ids[4:]]

    async def test_a_limit_of_none_gives_none(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[int]:
            return [len(await transaction.inboxes.waiting(inbox, WAITING, limit=0)) for inbox in (HERE, THERE)]

        assert await kept(open_store, lambda tx: fill(tx, here(1)), look) == [0, 0]

    async def test_an_inbox_that_nobody_used_is_empty(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> tuple[int, int, DeliveryRecord | None]:
            inbox = InboxId("agent:nobody")
            inboxes = transaction.inboxes
            return (
                len(await inboxes.waiting(inbox, WAITING)),
                await inboxes.queued(inbox),
                await inboxes.oldest(inbox, Kind),
            )

        assert await kept(open_store, lambda tx: fill(tx, here(1)), look) == (0, 0, None)

    async def test_queued_counts_what_is_queued_in_the_inbox(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await fill(transaction, *(here(n, state=state) for n, state in enumerate(DeliveryState, 1)))
            await fill(transaction, here(20, Kind.TASK), here(21), a_delivery(22, inbox=THERE))

        assert await kept(open_store, write, lambda tx: tx.inboxes.queued(HERE)) == 3

    async def test_the_count_follows_every_move(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[int]:
            return [await transaction.inboxes.queued(inbox) for inbox in (HERE, THERE)]

        async def write(transaction: Transaction) -> None:
            deliveries = transaction.deliveries
            one, two, three, four = [await deliveries.place(here(n)) for n in (1, 2, 3, 4)]
            offered = one._replace(state=DeliveryState.OFFERED)
            await each(deliveries.put, offered, offered, offered._replace(state=DeliveryState.QUEUED))
            await deliveries.put(two._replace(state=DeliveryState.HANDLED))
            await deliveries.place(three._replace(inbox=THERE))
            await deliveries.place(four)

        assert await kept(open_store, write, look) == [2, 1]

    async def test_the_oldest_is_the_first_queued_of_the_kinds(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await fill(
                transaction,
                a_delivery(9, inbox=THERE, kind=Kind.UPDATE),
                here(1, Kind.NOTIFY, DeliveryState.OFFERED),
                here(5, Kind.REQUEST),
                here(4, Kind.NOTIFY),
                here(3, Kind.RESPONSE),
                here(2, Kind.NOTIFY),
            )

        async def look(transaction: Transaction) -> list[DeliveryId | None]:
            asked = ({Kind.NOTIFY}, {Kind.RESPONSE, Kind.UPDATE}, set(Kind), {Kind.TASK}, set[Kind]())
            oldest = [await transaction.inboxes.oldest(HERE, kinds) for kinds in asked]
            return [delivery and delivery.id for delivery in oldest]

        assert await kept(open_store, write, look) == [here(4).id, here(3).id, here(5).id, None, None]

    async def test_alike_are_queued_notifies_and_updates_of_one_sender_scope_and_subject(
        self, open_store: OpenStore
    ) -> None:
        def like(n: int, kind: Kind = Kind.NOTIFY) -> DeliveryRecord:
            return a_delivery(n, inbox=HERE, kind=kind, scope="s", subject="topic")

        async def write(transaction: Transaction) -> None:
            await fill(
                transaction,
                like(2, Kind.UPDATE),
                like(1),
                *(like(9 + n, kind) for n, kind in enumerate((Kind.REQUEST, Kind.RESPONSE, Kind.TASK))),
                like(3)._replace(sender=AgentName("eve")),
                like(4)._replace(scope=Scope("t")),
                like(5)._replace(subject=Subject("other")),
                like(6)._replace(inbox=THERE),
                like(7)._replace(state=DeliveryState.OFFERED),
                like(8)._replace(state=DeliveryState.SUPERSEDED),
                here(20),
            )

        async def look(transaction: Transaction) -> list[DeliveryId]:
            found = await transaction.inboxes.alike(HERE, ALICE, Scope("s"), Subject("topic"))
            return [delivery.id for delivery in found]

        assert await kept(open_store, write, look) == [like(2).id, like(1).id]

    async def test_occupied_are_the_inboxes_in_which_something_waits(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await fill(
                transaction,
                here(1),
                here(2, state=DeliveryState.OFFERED),
                a_delivery(3, inbox=parked_inbox(AgentName("carl")), state=DeliveryState.IN_CONTEXT),
                a_delivery(4, inbox=THERE, state=DeliveryState.HANDLED),
            )
            moved = await transaction.deliveries.place(a_delivery(5, inbox=parked_inbox(AgentName("dora"))))
            await transaction.deliveries.place(moved._replace(inbox=HERE))

        found = await kept(open_store, write, lambda tx: tx.inboxes.occupied())
        assert list(found) == [parked_inbox(AgentName("carl")), HERE]
