"""States: every delivery is in one state of the table, and every move is journalled with its actor."""

from datetime import timedelta
from pathlib import Path

import pytest

from covey.core.errors import IllegalMove
from covey.core.ledger.delivery import MOVES, TERMINAL, DeliveryState
from covey.core.ledger.event import Action
from covey.ports.store import Store
from covey.services.care.audit import Audit
from covey.testing.faults import Death, Died, DyingStore, deaths
from tests.scenarios.stores import in_memory, on_sqlite
from tests.scenarios.world import Process, World, read, show, waiting

pytestmark = pytest.mark.requirement("ledger.states")

S = DeliveryState


async def every_state(world: World) -> dict[DeliveryState, str]:
    """Bring a message to each state in which it can stay."""
    alice, bob, gone = await world.join("alice", "bob", "gone")
    await world.process().join("shut", card={"allow_from": []})
    small = await world.process().join("small", inbox_limit=1, inbox_overflow="first-in-first-out")
    await gone.leave()
    found = {
        S.REFUSED: await alice.send("shut", "hi"),
        S.UNDELIVERABLE: await alice.send("gone", "hi", when_offline="refuse"),
        S.EVICTED: await alice.send("small", "old"),
        S.EXPIRED: await alice.send("bob", "stale", expires_in=timedelta(minutes=1)),
    }
    await alice.send(small.session.id, "new")
    world.pass_time(minutes=1)
    await world.tend()
    found[S.HANDLED] = await alice.send("bob", "read")
    await read(bob)
    found[S.IN_CONTEXT] = await alice.send("bob", "read, and owed", kind="request")
    await read(bob)
    found[S.OFFERED] = await alice.send("bob", "shown")
    await show(bob)
    found[S.WITHDRAWN] = await alice.send("bob", "never mind")
    await alice.withdraw(found[S.WITHDRAWN].message_id)
    found[S.SUPERSEDED] = await alice.send("bob", "1 of 2", scope="build", subject="progress")
    found[S.QUEUED] = await alice.send("bob", "2 of 2", scope="build", subject="progress")
    return {state: receipt.message_id for state, receipt in found.items()}


async def test_every_state_is_reached_by_journalled_moves_with_their_actors(world: World) -> None:
    found = await every_state(world)
    assert set(found) == set(DeliveryState) - {S.ACCEPTED}
    for state, message_id in found.items():
        assert (await world.delivery(message_id)).state is state
    for event in await world.events():
        assert event.actor.grade
    moves = await world.events(Action.DELIVERY_MOVED)
    for event in moves:
        assert str(event.details["to"]) in [str(to) for to in MOVES[S(str(event.details["from"]))].values()]
    last = {event.message_id: event for event in moves}
    actors = {S.EVICTED: "alice", S.EXPIRED: "covey", S.HANDLED: "bob", S.WITHDRAWN: "alice", S.SUPERSEDED: "alice"}
    for state, actor in actors.items():
        event = next(event for id_, event in last.items() if id_ == found[state])
        assert (event.details["to"], event.actor.agent) == (state, actor)
        assert event.details["reason"]


async def test_nothing_leaves_a_terminal_state(world: World) -> None:
    found = await every_state(world)
    alice, bob = await world.join("alice", "bob")
    over = {found[state]: state for state in TERMINAL}
    for message_id in over:
        with pytest.raises(IllegalMove):
            await alice.withdraw(message_id)
        (delivery,) = await world.deliveries(message_id)
        if delivery.agent == "bob":
            await bob.dismiss(message_id)
            await bob.reply(message_id, "I know")
            await bob.archive(message_id)
    world.pass_time(minutes=60)
    world.kill(bob)
    await world.tend()
    for message_id, state in over.items():
        assert (await world.delivery(message_id)).state is state


async def test_no_accepted_message_disappears(world: World) -> None:
    found = await every_state(world)
    for message_id in found.values():
        (message,) = [m for m in await world.observer.thread(message_id) if m.id == message_id]
        assert message.text
        assert any(event.message_id == message_id for event in await world.events(Action.MESSAGE_SENT))


async def story(process: Process) -> None:
    """A bit of everything, by one process."""
    alice, bob = await process.join("alice"), await process.join("bob", inbox_limit=3, inbox_overflow="evict-oldest")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", subject="merge")
    for n in range(3):
        await alice.send("bob", f"note {n}", scope="build")
    showing = await show(bob)
    await bob.confirm(showing.offer.id, "witnessed", "the model's response")
    await bob.heartbeat()
    await bob.reply(asked.message_id, "yes")
    await bob.archive(asked.message_id)
    await alice.send("bob", "left unread", kind="request")
    await bob.leave()
    await alice.sweep("build")


class Deaths:
    """A wrapper for stores that makes them die at a given point, and records the writes."""

    def __init__(self, death: Death | None = None) -> None:
        self._death = death
        self.writes: list[int] = []

    def __call__(self, store: Store) -> Store:
        dying = DyingStore(store, self._death)
        self.writes = dying.writes
        return dying


@pytest.mark.parametrize(("engine", "step"), [("memory", 1), ("sqlite", 6)])
async def test_a_process_that_dies_at_any_point_leaves_a_sound_ledger_that_others_can_use(
    tmp_path: Path, engine: str, step: int
) -> None:
    def fresh(n: int) -> World:
        folder = tmp_path / str(n)
        folder.mkdir()
        return World(in_memory() if engine == "memory" else on_sqlite(folder))

    whole, world = Deaths(), fresh(0)
    await story(world.process(whole))
    await world.close()
    for n, death in enumerate(list(deaths(whole.writes))[::step], 1):
        world = fresh(n)
        with pytest.raises(Died):
            await story(world.process(Deaths(death)))
        assert await Audit(world.observer.store).check() == [], death
        await world.restart()
        carol, bob = await world.join("carol", "bob")
        await carol.send("bob", "life goes on")
        assert (await waiting(bob))[-1] == "life goes on"
        assert await Audit(world.observer.store).check() == [], death
        await world.close()
