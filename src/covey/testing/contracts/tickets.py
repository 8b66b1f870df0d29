"""Contracts of tickets and offers."""

from covey.core.ledger.offer import Extent, Offer
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.names import AgentName, Scope, Subject, delivery_id, ticket_id
from covey.ports.store import Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore
from covey.testing.records import a_message_id, a_session_id, a_ticket, an_offer, an_offer_id, at


class TicketsContract:
    """Fixture: `open_store`."""

    async def test_a_ticket_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        ticket = a_ticket(state=TicketState.CLOSED, scope="s")._replace(
            thread=a_message_id(7),
            asker_session=a_session_id(4),
            subject=Subject("topic"),
            due_at=at(60),
            answer=a_message_id(8),
            trouble=TicketTrouble.EVICTED,
            awaits=ticket_id(a_message_id(9), AgentName("alice")),
            closed_at=at(9),
            close_reason=TicketMove.WAIVE,
        )
        found = await kept(open_store, lambda tx: tx.tickets.put(ticket), lambda tx: tx.tickets.get(ticket.id))
        assert found == ticket

    async def test_a_ticket_that_nobody_opened_is_none(self, open_store: OpenStore) -> None:
        found = await kept(
            open_store, lambda tx: tx.tickets.put(a_ticket(1)), lambda tx: tx.tickets.get(a_ticket(2).id)
        )
        assert found is None

    async def test_the_tickets_of_a_message_are_given_by_debtor(self, open_store: OpenStore) -> None:
        tickets = [a_ticket(1, debtor=name) for name in ("zoe", "bob", "eve")]
        tickets[2] = tickets[2]._replace(state=TicketState.CLOSED)
        found = await kept(
            open_store,
            lambda tx: each(tx.tickets.put, *tickets, a_ticket(2)),
            lambda tx: tx.tickets.of_message(a_message_id(1)),
        )
        assert [*found] == [tickets[1], tickets[2], tickets[0]]

    async def test_owed_are_the_tickets_that_are_not_closed_oldest_first(self, open_store: OpenStore) -> None:
        young = a_ticket(1, scope="s", opened_at=at(9))
        old = a_ticket(2, scope="s", opened_at=at(3), state=TicketState.ANSWERED)
        same = a_ticket(3, scope="s", opened_at=at(9))
        closed = a_ticket(4, scope="s", state=TicketState.CLOSED)
        troubled = young._replace(trouble=TicketTrouble.EXPIRED)

        async def look(transaction: Transaction) -> list[list[Ticket]]:
            tickets = transaction.tickets
            return [
                [*await tickets.owed_in(Scope("s"))],
                [*await tickets.owed_by(AgentName("bob"))],
                [*await tickets.owed_to(AgentName("alice"))],
            ]

        found = await kept(open_store, lambda tx: each(tx.tickets.put, young, old, same, closed, troubled), look)
        assert found == [[old, troubled, same]] * 3

    async def test_what_is_owed_is_told_apart_by_scope_debtor_and_asker(self, open_store: OpenStore) -> None:
        tickets = [
            a_ticket(1, scope="s", asker="alice", debtor="bob"),
            a_ticket(2, scope="t", asker="eve", debtor="bob"),
            a_ticket(3, asker="alice", debtor="eve"),
        ]

        async def look(transaction: Transaction) -> list[list[Ticket]]:
            return [
                [*await transaction.tickets.owed_in(Scope("s"))],
                [*await transaction.tickets.owed_by(AgentName("bob"))],
                [*await transaction.tickets.owed_to(AgentName("alice"))],
                [*await transaction.tickets.owed_by(AgentName("alice"))],
            ]

        one, two, three = tickets
        found = await kept(open_store, lambda tx: each(tx.tickets.put, *tickets), look)
        assert found == [[one], [one, two], [one, three], []]

    async def test_closing_a_ticket_ends_what_is_owed(self, open_store: OpenStore) -> None:
        closed = a_ticket(scope="s", state=TicketState.CLOSED)
        found = await kept(
            open_store,
            lambda tx: each(tx.tickets.put, a_ticket(scope="s"), closed),
            lambda tx: tx.tickets.owed_in(Scope("s")),
        )
        assert [*found] == []

    async def test_awaiting_are_the_unclosed_tickets_that_wait_for_this_one(self, open_store: OpenStore) -> None:
        question = a_ticket(9).id
        waiting = a_ticket(1, awaits=question), a_ticket(2, awaits=question, state=TicketState.ANSWERED)
        others = (
            a_ticket(3, awaits=question, state=TicketState.CLOSED),
            a_ticket(4, awaits=a_ticket(8).id),
            a_ticket(5),
            a_ticket(9),
        )

        async def look(transaction: Transaction) -> set[Ticket]:
            return {*await transaction.tickets.awaiting(question)}

        assert await kept(open_store, lambda tx: each(tx.tickets.put, *waiting, *others), look) == {*waiting}

    async def test_debtors_are_all_who_owe_something(self, open_store: OpenStore) -> None:
        tickets = (
            a_ticket(1, debtor="eve"),
            a_ticket(2, debtor="bob"),
            a_ticket(3, debtor="eve", state=TicketState.ANSWERED),
            a_ticket(4, debtor="carl", state=TicketState.CLOSED),
        )
        found = await kept(open_store, lambda tx: each(tx.tickets.put, *tickets), lambda tx: tx.tickets.debtors())
        assert [*found] == ["bob", "eve"]


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
