"""Contract of deliveries, by id and by message."""

import asyncio

from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade, Extent, SeenParts, confirmed
from covey.core.names import AgentName, Scope, delivery_id, session_inbox
from covey.ports.store import Operation, Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore, silent
from covey.testing.records import a_delivery, a_message_id, a_session_id, at

HERE, THERE = session_inbox(a_session_id(1)), session_inbox(a_session_id(2))


PARTLY = confirmed(None, Extent(0, 7223, 52_903), EvidenceGrade.WITNESSED)
"""The evidence for a message of which a model has read only the beginning."""


def placing(delivery: DeliveryRecord) -> Operation[DeliveryRecord]:
    """Return the operation that places one delivery."""
    return lambda tx: tx.deliveries.place(delivery)


class DeliveriesContract:
    """Fixture: `open_store`."""

    async def test_a_delivery_comes_back_as_it_was_placed(self, open_store: OpenStore) -> None:
        delivery = a_delivery(
            state=DeliveryState.OFFERED,
            kind=Kind.REQUEST,
            inbox=HERE,
            scope="s",
            subject="topic",
            expires_at=at(60),
            lease_until=at(5.5),
        )._replace(grade=EvidenceGrade.NAMED, reason="why", archived_at=at(7), number=41, agent=None, seen=PARTLY)
        found = await kept(open_store, placing(delivery), lambda tx: tx.deliveries.get(delivery.id))
        assert found is not None
        assert found == delivery._replace(seq=found.seq)

    async def test_a_delivery_that_nobody_placed_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, placing(a_delivery(1)), lambda tx: tx.deliveries.get(a_delivery(2).id))
        assert found is None

    async def test_placing_returns_what_is_then_stored(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            placed = await store.commit(placing(a_delivery()))
            assert placed == a_delivery()._replace(seq=placed.seq)
            assert await store.read(lambda tx: tx.deliveries.get(placed.id)) == placed

    async def test_every_place_gives_a_greater_seq(self, open_store: OpenStore) -> None:
        again = a_delivery(1)._replace(seq=10**12)
        deliveries = [a_delivery(1), a_delivery(2, inbox=HERE), a_delivery(3, inbox=THERE), again]
        async with open_store(silent) as store:
            seqs = [(await store.commit(placing(delivery))).seq for delivery in deliveries]
        assert seqs[0] > 0
        assert seqs == sorted(set(seqs))
        assert seqs[-1] < 10**12, "the store counts for itself"

    async def test_concurrent_places_get_different_seqs(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            placed = await asyncio.gather(*(store.commit(placing(a_delivery(n))) for n in range(50)))
        assert len({delivery.seq for delivery in placed}) == 50

    async def test_placing_again_moves_it_to_the_end_of_another_inbox(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await each(transaction.deliveries.place, a_delivery(1, inbox=HERE), a_delivery(2, inbox=THERE))
            await transaction.deliveries.place(a_delivery(1, inbox=THERE))

        async def look(transaction: Transaction) -> list[list[str]]:
            waiting = [await transaction.inboxes.waiting(inbox, WAITING) for inbox in (HERE, THERE)]
            return [[delivery.id for delivery in deliveries] for deliveries in waiting]

        assert await kept(open_store, write, look) == [[], [a_delivery(2).id, a_delivery(1).id]]

    async def test_putting_replaces_it_where_it_is(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            placed = await transaction.deliveries.place(a_delivery(1))
            await transaction.deliveries.place(a_delivery(2))
            await transaction.deliveries.put(
                placed._replace(state=DeliveryState.IN_CONTEXT, grade=EvidenceGrade.WITNESSED, updated_at=at(9))
            )

        found = await kept(open_store, write, lambda tx: tx.inboxes.waiting(a_delivery().inbox, WAITING))
        assert [(d.id, d.state, d.grade) for d in found] == [
            (a_delivery(1).id, DeliveryState.IN_CONTEXT, EvidenceGrade.WITNESSED),
            (a_delivery(2).id, DeliveryState.QUEUED, None),
        ]
        assert found[0].updated_at == at(9)

    async def test_how_much_of_it_was_seen_is_kept(self, open_store: OpenStore) -> None:
        more = confirmed(PARTLY, Extent(9_000, 52_903, 52_903), EvidenceGrade.INFERRED)

        async def write(transaction: Transaction) -> None:
            for n, seen in ((1, None), (2, PARTLY), (3, more)):
                placed = await transaction.deliveries.place(a_delivery(n))
                await transaction.deliveries.put(placed._replace(seen=seen))
            moved = await transaction.deliveries.get(a_delivery(3).id)
            assert moved is not None
            await transaction.deliveries.place(moved._replace(inbox=HERE, seen=None))

        async def look(transaction: Transaction) -> list[SeenParts | None]:
            found = [await transaction.deliveries.get(a_delivery(n).id) for n in (1, 2, 3)]
            return [None if delivery is None else delivery.seen for delivery in found]

        assert await kept(open_store, write, look) == [None, PARTLY, None]

    async def test_the_copies_of_a_message_are_in_the_order_of_their_numbers(self, open_store: OpenStore) -> None:
        copies = [a_delivery(1, copy, inbox=session_inbox(a_session_id(copy))) for copy in range(12, 0, -1)]
        copies[3] = copies[3]._replace(state=DeliveryState.REFUSED, reason="not-allowed")
        found = await kept(
            open_store,
            lambda tx: each(tx.deliveries.place, *copies, a_delivery(2)),
            lambda tx: tx.deliveries.of_message(a_message_id(1)),
        )
        assert [d.id for d in found] == [delivery_id(a_message_id(1), copy) for copy in range(1, 13)]

    async def test_unsettled_in_a_scope_is_what_waits_there_by_seq(self, open_store: OpenStore) -> None:
        every_state = [a_delivery(n, state=state, scope="s") for n, state in enumerate(reversed(DeliveryState), 1)]
        others = [a_delivery(20, scope="t"), a_delivery(21)]
        found = await kept(
            open_store,
            lambda tx: each(tx.deliveries.place, *others, *every_state),
            lambda tx: tx.deliveries.unsettled_in(Scope("s")),
        )
        assert [d.id for d in found] == [d.id for d in every_state if d.state in WAITING]

    async def test_what_is_settled_leaves_the_scope(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            placed = await transaction.deliveries.place(a_delivery(scope="s"))
            await transaction.deliveries.put(placed._replace(state=DeliveryState.HANDLED))

        assert [*await kept(open_store, write, lambda tx: tx.deliveries.unsettled_in(Scope("s")))] == []

    async def test_what_was_handled_is_found_by_its_number(self, open_store: OpenStore) -> None:
        handled, number = DeliveryState.HANDLED, 7
        found = await kept(
            open_store,
            lambda tx: each(
                tx.deliveries.place,
                a_delivery(1, 2, state=handled)._replace(number=number),
                a_delivery(1, 1, state=handled)._replace(number=number),
                a_delivery(1, 3)._replace(number=number),
                a_delivery(2, state=handled)._replace(number=number, agent=AgentName("someone-else")),
                a_delivery(3, state=handled)._replace(number=number + 1),
            ),
            lambda tx: tx.deliveries.handled(AgentName("bob"), number),
        )
        assert [d.id for d in found] == [delivery_id(a_message_id(1), copy) for copy in (1, 2)]

    async def test_what_is_handled_later_is_found_by_its_number_then(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> DeliveryRecord:
            placed = await transaction.deliveries.place(a_delivery()._replace(number=1))
            assert not await transaction.deliveries.handled(AgentName("bob"), 1)
            done = placed._replace(state=DeliveryState.HANDLED)
            await transaction.deliveries.put(done)
            return done

        found = await kept(open_store, write, lambda tx: tx.deliveries.handled(AgentName("bob"), 1))
        assert [d.id for d in found] == [a_delivery().id]

    async def test_lapsed_are_ended_leases_and_queued_mail_that_expired(self, open_store: OpenStore) -> None:
        offered, queued = DeliveryState.OFFERED, DeliveryState.QUEUED
        lapsed = [
            a_delivery(1, state=offered, lease_until=at(10)),
            a_delivery(2, state=offered, lease_until=at(9), expires_at=at(99)),
            a_delivery(3, state=queued, expires_at=at(10)),
        ]
        others = [
            a_delivery(4, state=offered, lease_until=at(10.000001)),
            a_delivery(5, state=offered, lease_until=at(99), expires_at=at(5)),
            a_delivery(6, state=queued, expires_at=at(10.000001)),
            a_delivery(7, state=queued),
            a_delivery(8, state=DeliveryState.IN_CONTEXT, expires_at=at(5)),
            a_delivery(9, state=DeliveryState.EXPIRED, expires_at=at(5)),
            a_delivery(10, state=DeliveryState.HANDLED, expires_at=at(5)),
        ]
        found = await kept(
            open_store,
            lambda tx: each(tx.deliveries.place, *others, *lapsed),
            lambda tx: tx.deliveries.lapsed(at(10), 100),
        )
        assert {d.id for d in found} == {d.id for d in lapsed}

    async def test_lapsed_come_by_the_time_when_they_lapsed_then_by_seq(self, open_store: OpenStore) -> None:
        mail = [
            a_delivery(1, expires_at=at(3)),
            a_delivery(2, state=DeliveryState.OFFERED, lease_until=at(3)),
            a_delivery(3, expires_at=at(1)),
            a_delivery(4, state=DeliveryState.OFFERED, lease_until=at(2)),
            a_delivery(5, expires_at=at(3)),
        ]
        found = await kept(
            open_store,
            lambda tx: each(tx.deliveries.place, *mail),
            lambda tx: tx.deliveries.lapsed(at(10), 100),
        )
        assert [d.id for d in found] == [mail[n].id for n in (2, 3, 0, 1, 4)]

    async def test_lapsed_gives_no_more_than_its_limit(self, open_store: OpenStore) -> None:
        mail = [a_delivery(n, expires_at=at(n)) for n in range(1, 6)]
        found = await kept(
            open_store,
            lambda tx: each(tx.deliveries.place, *mail),
            lambda tx: tx.deliveries.lapsed(at(10), 3),
        )
        assert [d.id for d in found] == [d.id for d in mail[:3]]

    async def test_a_delivery_that_was_dealt_with_is_lapsed_no_more(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            offered = await transaction.deliveries.place(a_delivery(1, state=DeliveryState.OFFERED, lease_until=at(1)))
            await transaction.deliveries.put(offered._replace(state=DeliveryState.QUEUED, offer=None, lease_until=None))
            queued = await transaction.deliveries.place(a_delivery(2, expires_at=at(1)))
            await transaction.deliveries.put(queued._replace(state=DeliveryState.EXPIRED))

        assert [*await kept(open_store, write, lambda tx: tx.deliveries.lapsed(at(10), 100))] == []
