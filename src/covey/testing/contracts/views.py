"""Contract of views."""

from datetime import timedelta

from covey.core.channels.post import PostState
from covey.core.directory.card import Card
from covey.core.formats.portable import FiledMessage, NumberedAgent, RecordKind, Setting
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.core.work.run import RunState
from covey.core.work.task import TaskState
from covey.ports.store import Transaction
from covey.ports.views import View
from covey.testing.contracts.tables import each, write_everything
from covey.testing.factories import OpenViews
from covey.testing.records import (
    a_binding,
    a_delivery,
    a_message,
    a_message_id,
    a_post,
    a_run,
    a_session,
    a_task,
    a_ticket,
    a_token,
    an_agent,
    an_event,
    an_offer,
    at,
)

BOB = AgentName("bob")


class ViewsContract:
    """Fixture: `open_views`."""

    async def test_a_view_has_every_kind_of_record(self, open_views: OpenViews) -> None:
        async with open_views() as (store, views):
            await store.commit(write_everything)
            async with views.view() as view:
                assert await view.agents() == [NumberedAgent(an_agent(), 1)]
                assert Setting("setting", "value") in await view.settings()
                assert await view.tokens() == [a_token()]
                (event,) = await view.events(0, 10)
                assert event == an_event()._replace(position=event.position)
                assert [placed.record for placed in await view.sessions(0, 10)] == [a_session()]
                assert [placed.record for placed in await view.offers(0, 10)] == [an_offer()]
                assert [placed.record for placed in await view.messages(0, 10)] == [FiledMessage(a_message())]
                assert [placed.record for placed in await view.tickets(0, 10)] == [a_ticket()]
                (delivery,) = await view.deliveries(0, 10)
                assert delivery.message_id == a_message().id
                assert [placed.record for placed in await view.tasks(0, 10)] == [a_task()]
                assert await view.bindings() == [a_binding()]
                assert [placed.record for placed in await view.posts(0, 10)] == [a_post()]
                assert [placed.record for placed in await view.runs(0, 10)] == [a_run()]
                assert await view.position() == event.position
                totals = {kind: count for kind, count in (await view.totals()).items() if count}
                totals[RecordKind.SETTING] -= await _own_settings(view)
                assert totals == dict.fromkeys(set(RecordKind) - {RecordKind.BLOB, RecordKind.PRUNED}, 1)

    async def test_a_view_of_an_empty_space_has_nothing(self, open_views: OpenViews) -> None:
        async with open_views() as (_, views), views.view() as view:
            assert await view.position() == 0
            assert sum((await view.totals()).values()) == 0
            assert [*await view.agents(), *await view.settings(), *await view.tokens(), *await view.bindings()] == []
            for read in (view.events, view.sessions, view.offers, view.messages, view.tickets, view.deliveries):
                assert [*await read(0, 10)] == []
            assert [*await view.tasks(0, 10), *await view.posts(0, 10), *await view.runs(0, 10)] == []

    async def test_it_holds_what_was_committed_before_and_nothing_after(self, open_views: OpenViews) -> None:
        async def add_another(tx: Transaction) -> None:
            await tx.agents.put(an_agent("eve"))
            await tx.agents.next_number(BOB)
            await tx.settings.put("setting", "other")
            await tx.sessions.put(a_session(ended_at=at(1)))
            await tx.messages.add(a_message(2), encode(a_message(2)))
            await tx.deliveries.place(a_delivery(2))
            await tx.tickets.put(a_ticket(2))
            await tx.tasks.put(a_task(2))
            await tx.bindings.remove(AgentName("ops"), "c-1")
            await tx.posts.put(a_post(2))
            await tx.runs.put(a_run(2))
            await tx.offers.put(an_offer(2))
            await tx.journal.append(an_event(2))
            await tx.tokens.put(a_token(2))

        async with open_views() as (store, views):
            await store.commit(write_everything)
            async with views.view() as view:
                await store.commit(add_another)
                assert await view.agents() == [NumberedAgent(an_agent(), 1)]
                assert Setting("setting", "value") in await view.settings()
                assert [placed.record for placed in await view.sessions(0, 10)] == [a_session()]
                assert len(await view.tokens()) == 1
                assert await view.bindings() == [a_binding()]
                for read in (view.events, view.offers, view.messages, view.tickets, view.deliveries):
                    assert len(await read(0, 10)) == 1
                assert [len(await read(0, 10)) for read in (view.tasks, view.posts, view.runs)] == [1, 1, 1]
                assert sum((await view.totals()).values()) - await _own_settings(view) == 13
            async with views.view() as later:
                assert sum((await later.totals()).values()) - await _own_settings(later) == 22

    async def test_pages_go_on_after_the_place_of_the_last_record(self, open_views: OpenViews) -> None:
        async def add(tx: Transaction) -> None:
            for n in range(1, 6):
                await tx.messages.add(a_message(n), encode(a_message(n)), is_swept=n % 2 == 0)
                await tx.sessions.put(a_session(n, ended_at=at(n) if n % 2 else None))
                await tx.offers.put(an_offer(n))
                await tx.tickets.put(a_ticket(n))
                await tx.tasks.put(a_task(n, state=TaskState.COMPLETED if n % 2 else TaskState.PENDING))
                await tx.posts.put(a_post(n, state=PostState.DELIVERED if n % 2 else PostState.PENDING))
                await tx.runs.put(a_run(n, state=RunState.LOST if n % 2 else RunState.RUNNING))
                await tx.deliveries.place(a_delivery(n))
                await tx.journal.append(an_event(n))

        async with open_views() as (store, views):
            await store.commit(add)
            async with views.view() as view:
                for read in (
                    view.messages,
                    view.sessions,
                    view.offers,
                    view.tickets,
                    view.tasks,
                    view.posts,
                    view.runs,
                ):
                    first = await read(0, 2)
                    second = await read(first[-1].place, 2)
                    third = await read(second[-1].place, 2)
                    assert [len(first), len(second), len(third)] == [2, 2, 1]
                    assert [*first, *second, *third] == [*await read(0, 10)]
                    assert [*await read(third[-1].place, 2)] == []
                events = await view.events(0, 3)
                assert [*events, *await view.events(events[-1].position, 3)] == [*await view.events(0, 10)]
                deliveries = await view.deliveries(0, 3)
                assert [*deliveries, *await view.deliveries(deliveries[-1].seq, 3)] == [*await view.deliveries(0, 10)]
                swept = [placed.record.is_swept for placed in await view.messages(0, 10)]
                assert swept == [False, True, False, True, False]

    async def test_records_stand_as_they_were_first_put(self, open_views: OpenViews) -> None:
        async def put(tx: Transaction) -> None:
            await each(tx.sessions.put, a_session(2), a_session(1, joined_at=at(-60)), a_session(2, ended_at=at(9)))
            await each(tx.tickets.put, a_ticket(3), a_ticket(1), a_ticket(3)._replace(due_at=at(5)))
            await each(tx.offers.put, an_offer(2), an_offer(1), an_offer(2, ended_at=at(3)))
            await each(tx.tasks.put, a_task(3), a_task(1), a_task(3, state=TaskState.WORKING))
            await each(tx.posts.put, a_post(2), a_post(1), a_post(2, state=PostState.FAILED))
            await each(tx.runs.put, a_run(2), a_run(1), a_run(2, state=RunState.FAILED))

        async with open_views() as (store, views):
            await store.commit(put)
            async with views.view() as view:
                assert [placed.record.id for placed in await view.sessions(0, 10)] == [a_session(2).id, a_session(1).id]
                assert [placed.record.id for placed in await view.tickets(0, 10)] == [a_ticket(3).id, a_ticket(1).id]
                assert [placed.record.id for placed in await view.offers(0, 10)] == [an_offer(2).id, an_offer(1).id]
                assert [placed.record.id for placed in await view.tasks(0, 10)] == [a_task(3).id, a_task(1).id]
                assert [placed.record.id for placed in await view.posts(0, 10)] == [a_post(2).id, a_post(1).id]
                assert [placed.record.id for placed in await view.runs(0, 10)] == [a_run(2).id, a_run(1).id]

    async def test_deliveries_stand_by_seq_whatever_their_state(self, open_views: OpenViews) -> None:
        async def put(tx: Transaction) -> None:
            first = await tx.deliveries.place(a_delivery(1))
            await tx.deliveries.place(a_delivery(2, state=DeliveryState.HANDLED))
            await tx.deliveries.place(first._replace(updated_at=at(0) + timedelta(seconds=1)))

        async with open_views() as (store, views):
            await store.commit(put)
            async with views.view() as view:
                found = await view.deliveries(0, 10)
        assert [delivery.message_id for delivery in found] == [a_message_id(2), a_message_id(1)]

    async def test_what_was_pruned_is_given_in_the_order_of_its_ids(self, open_views: OpenViews) -> None:
        ids = [a_message_id(n) for n in (3, 1, 2)]
        async with open_views() as (store, views):
            await store.commit(lambda tx: tx.pruned.remember(ids))
            async with views.view() as view:
                assert [*await view.pruned("", 2)] == sorted(ids)[:2]
                assert [*await view.pruned(sorted(ids)[1], 2)] == sorted(ids)[2:]
                assert (await view.totals())[RecordKind.PRUNED] == 3
            assert [await store.read(lambda tx, n=n: tx.pruned.has(a_message_id(n))) for n in (1, 4)] == [True, False]

    async def test_agents_come_with_the_last_number_that_was_given(self, open_views: OpenViews) -> None:
        async def put(tx: Transaction) -> None:
            await each(tx.agents.put, an_agent("eve", card=Card(description="x")), an_agent("bob"))
            await tx.agents.next_number(BOB, 5)
            await tx.agents.next_number(BOB)

        async with open_views() as (store, views):
            await store.commit(put)
            async with views.view() as view:
                assert [(found.agent.name, found.numbered) for found in await view.agents()] == [("bob", 6), ("eve", 0)]


async def _own_settings(view: View) -> int:
    """Return the number of the store's own settings. A folder keeps the meaning of its files there."""
    return len([setting for setting in await view.settings() if setting.name != "setting"])
