"""Contract of the journal."""

import asyncio
from collections.abc import Sequence

from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName, Scope
from covey.ports.ledger import EventFilter
from covey.ports.store import Operation, Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore, silent
from covey.testing.records import a_message_id, an_event, at


def without_position(events: list[Event]) -> list[Event]:
    """Return the events without the positions that the store assigned."""
    return [event._replace(position=0) for event in events]


def appending(event: Event) -> Operation[None]:
    """Return the operation that appends one event."""
    return lambda tx: tx.journal.append(event)


class JournalContract:
    """Fixture: `open_store`."""

    async def test_an_event_comes_back_as_it_was_appended(self, open_store: OpenStore) -> None:
        event = an_event(
            action=Action.DELIVERY_MOVED,
            agent="bob",
            scope="s",
            details={"to": "queued", "list": [1, None, {"a": 2.5}]},
        )._replace(at=at(1.000001))
        bare = Event(Action.SETTING_CHANGED, THE_SPACE, at(2))
        found = await kept(
            open_store, lambda tx: each(tx.journal.append, event, bare), lambda tx: tx.journal.read(0, 10)
        )
        assert without_position([*found]) == [event, bare]

    async def test_details_given_as_json_too_change_nothing(self, open_store: OpenStore) -> None:
        event = an_event(details={"to": "queued", "list": [1, None, {"ä": '"'}]})
        text = '{"to":"queued","list":[1,null,{"ä":"\\""}]}'
        found = await kept(open_store, lambda tx: tx.journal.append(event, text), lambda tx: tx.journal.read(0, 10))
        assert without_position([*found]) == [event]

    async def test_positions_grow_with_every_event(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            for n in (3, 1, 2):
                await store.commit(appending(an_event(n)))
            await store.commit(lambda tx: each(tx.journal.append, an_event(9), an_event(8)))
            events = await store.read(lambda tx: tx.journal.read(0, 10))
        positions = [event.position for event in events]
        assert positions[0] > 0
        assert positions == sorted(set(positions))
        assert [event.message_id for event in events] == [a_message_id(n) for n in (3, 1, 2, 9, 8)]

    async def test_a_given_position_means_nothing(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(appending(an_event()._replace(position=10**12)))
            assert 0 < await store.read(lambda tx: tx.journal.last()) < 10**12

    async def test_reading_goes_on_after_a_position(self, open_store: OpenStore) -> None:
        async def look(transaction: Transaction) -> list[list[Event]]:
            first = await transaction.journal.read(0, 2)
            then = await transaction.journal.read(first[-1].position, 2)
            none = await transaction.journal.read(await transaction.journal.last(), 2)
            return [[*first], [*then], [*none]]

        events = [an_event(n) for n in (1, 2, 3)]
        found = await kept(open_store, lambda tx: each(tx.journal.append, *events), look)
        assert [without_position(page) for page in found] == [events[:2], events[2:], []]

    async def test_events_are_read_by_what_they_are_about(self, open_store: OpenStore) -> None:
        events = [
            an_event(1, action=Action.MESSAGE_SENT, actor="alice", agent="bob", scope="s"),
            an_event(2, action=Action.MESSAGE_SENT, actor="bob", agent="eve", scope="t"),
            an_event(1, action=Action.EVIDENCE, actor="eve", scope="s"),
        ]
        one, two, three = events
        expected = {
            EventFilter(): events,
            EventFilter(message_id=a_message_id(1)): [one, three],
            EventFilter(agent=AgentName("bob")): [one, two],
            EventFilter(agent=AgentName("eve")): [two, three],
            EventFilter(scope=Scope("s")): [one, three],
            EventFilter(action=Action.MESSAGE_SENT): [one, two],
            EventFilter(a_message_id(1), AgentName("bob"), Scope("s"), Action.MESSAGE_SENT): [one],
            EventFilter(a_message_id(2), scope=Scope("s")): [],
        }

        async def look(transaction: Transaction) -> list[list[Event]]:
            return [[*await transaction.journal.read(0, 10, wanted)] for wanted in expected]

        found = await kept(open_store, lambda tx: each(tx.journal.append, *events), look)
        assert [without_position(page) for page in found] == list(expected.values())

    async def test_the_limit_counts_the_events_that_fit(self, open_store: OpenStore) -> None:
        events = [an_event(n, scope="s" if n % 2 else "t") for n in range(1, 9)]
        found = await kept(
            open_store,
            lambda tx: each(tx.journal.append, *events),
            lambda tx: tx.journal.read(0, 3, EventFilter(scope=Scope("t"))),
        )
        assert [event.message_id for event in found] == [a_message_id(n) for n in (2, 4, 6)]

    async def test_last_is_the_position_of_the_newest_event(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            assert await store.read(lambda tx: tx.journal.last()) == 0
            await store.commit(lambda tx: each(tx.journal.append, an_event(1), an_event(2)))
            events = await store.read(lambda tx: tx.journal.read(0, 10))
            assert await store.read(lambda tx: tx.journal.last()) == events[-1].position

    async def test_a_reader_that_follows_concurrent_commits_misses_nothing(self, open_store: OpenStore) -> None:
        seen: list[Event] = []
        async with open_store(silent) as store:

            async def more(transaction: Transaction) -> Sequence[Event]:
                return await transaction.journal.read(seen[-1].position if seen else 0, 7)

            async def follow() -> None:
                while len(seen) < 50:
                    seen.extend(await store.read(more))
                    await asyncio.sleep(0)

            async with asyncio.timeout(10), asyncio.TaskGroup() as group:
                group.create_task(follow())
                for n in range(50):
                    group.create_task(store.commit(appending(an_event(n))))
        assert {event.message_id for event in seen} == {a_message_id(n) for n in range(50)}
        assert len(seen) == 50
