"""Contract of offers."""

from covey.core.extent import Extent
from covey.core.ids import delivery_id
from covey.core.offer import Offer
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_message_id, a_session_id, an_offer, an_offer_id, at


class OffersContract:
    """Fixture: `open_store`."""

    async def test_an_offer_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        shown = tuple(delivery_id(a_message_id(n), n) for n in (3, 1, 2))
        for extents in ((), tuple(Extent(n, n + 1, 9) for n in range(3))):
            offer = an_offer()._replace(deliveries=shown, extents=extents)
            assert (
                await kept(open_store, lambda tx, o=offer: tx.offers.put(o), lambda tx: tx.offers.get(an_offer_id()))
                == offer
            )

    async def test_an_offer_that_nobody_made_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.offers.put(an_offer(1)), lambda tx: tx.offers.get(an_offer_id(2)))
        assert found is None

    async def test_an_ended_offer_is_still_there(self, open_store: OpenStore) -> None:
        ended = an_offer(ended_at=at(5))
        found = await kept(
            open_store, lambda tx: each(tx.offers.put, an_offer(), ended), lambda tx: tx.offers.get(ended.id)
        )
        assert found == ended

    async def test_the_live_offers_of_a_session_are_given_oldest_first(self, open_store: OpenStore) -> None:
        young, old, same = an_offer(1, offered_at=at(9)), an_offer(2, offered_at=at(3)), an_offer(3, offered_at=at(9))
        lapsed = an_offer(6, offered_at=at(-9999))
        others = an_offer(4, session=2), an_offer(5, ended_at=at(5))
        renewed = young._replace(lease_until=at(9999))

        async def look(transaction: Transaction) -> list[Offer]:
            return [*await transaction.offers.live_of(a_session_id(1))]

        found = await kept(open_store, lambda tx: each(tx.offers.put, young, old, same, lapsed, *others, renewed), look)
        assert found == [lapsed, old, renewed, same]
