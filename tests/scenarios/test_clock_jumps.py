"""A clock that jumps backwards and forwards: data stays intact, and the store defines the order."""

from datetime import timedelta

import pytest

from covey.core.directory.card import Presence
from covey.core.ledger.delivery import DeliveryState
from tests.scenarios.world import World, read, show, texts, waiting

YEAR = 365 * 24 * 3600.0
JUMPS = (-YEAR, 10 * YEAR, -30.0, -2 * YEAR, 3600.0, 0.0, -9 * YEAR, 0.001)


@pytest.mark.requirement("ledger.states")
async def test_order_is_the_store_s_sequence_and_not_the_clock(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n, jump in enumerate(JUMPS):
        world.clock.jump(jump)
        await alice.send("bob", str(n))
    expected = [str(n) for n in range(len(JUMPS))]
    assert await waiting(bob) == expected
    seqs = [d.record.seq for d in await bob.inbox.peek()]
    assert seqs == sorted(seqs)
    assert texts(await show(bob)) == expected
    positions = [event.position for event in await world.events()]
    assert positions == sorted(positions)


@pytest.mark.requirement("ledger.states")
async def test_a_dialogue_goes_on_whatever_the_clock_does(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    jumps = iter(JUMPS * 2)
    for n in range(len(JUMPS)):
        asked = await alice.send("bob", f"question {n}", kind="request", scope="build")
        world.clock.jump(next(jumps))
        await bob.reply(asked.message_id, f"answer {n}")
        world.clock.jump(next(jumps))
        await bob.archive(asked.message_id)
        assert (await world.observer.gate("build")).passed
    assert await waiting(alice) == [f"answer {n}" for n in range(len(JUMPS))]
    assert (await alice.sweep("build")).messages_swept == 2 * len(JUMPS)


@pytest.mark.requirement("ledger.offers")
async def test_a_clock_that_jumps_back_ends_no_lease_and_one_that_jumps_ahead_does(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    showing = await show(bob)
    world.clock.jump(-YEAR)
    await world.tend()
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.OFFERED
    await bob.heartbeat()  # renews the lease by the current clock
    assert (await world.offer(showing.offer.id)).lease_until == world.clock.now() + timedelta(minutes=10)
    world.clock.jump(2 * YEAR)
    await world.tend()
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.QUEUED
    assert texts(await read(bob)) == ["hi"]


@pytest.mark.requirement("mailbox.presence")
async def test_a_clock_that_jumps_back_makes_no_agent_offline(world: World) -> None:
    far = await world.process().join("bob", kind="leased")
    world.clock.jump(-YEAR)
    assert (await world.observer.agent("bob")).presence is Presence.IDLE
    await far.heartbeat()
    world.pass_time(seconds=59)
    assert (await world.observer.agent("bob")).presence is Presence.IDLE
    world.pass_time(seconds=2)
    assert (await world.observer.agent("bob")).presence is Presence.OFFLINE


@pytest.mark.requirement("ledger.parking")
async def test_sessions_that_join_while_the_clock_jumps_are_still_told_apart(world: World) -> None:
    alice, first = await world.join("alice", "bob")
    world.clock.jump(-YEAR)
    (second,) = await world.join("bob")
    await alice.send("bob", "hi")
    await alice.send("agent:bob:main", "to the main one")
    assert sorted([len(await waiting(first)), len(await waiting(second))]) == [1, 2]
    world.kill(first, second)
    (heir,) = await world.join("bob")
    assert await waiting(heir) == ["hi", "to the main one"]


@pytest.mark.requirement("ledger.tickets")
async def test_an_expired_message_stays_expired_when_the_clock_jumps_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "soon stale", expires_in=timedelta(minutes=1))
    world.clock.jump(120)
    await world.tend()
    world.clock.jump(-120)
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.EXPIRED
    assert await waiting(bob) == []
