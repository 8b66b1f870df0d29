"""Offers: showing deliveries to a model, under a lease."""

from datetime import timedelta

import pytest

from covey.core.errors import NotYours, OfferUnknown
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from tests.scenarios.world import World, read, show, texts, waiting

pytestmark = pytest.mark.requirement("ledger.offers")

QUEUED, OFFERED, HANDLED = DeliveryState.QUEUED, DeliveryState.OFFERED, DeliveryState.HANDLED


async def test_an_offer_has_an_id_a_turn_and_a_lease_of_ten_minutes(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    showing = await show(bob, "turn-7")
    offer = await world.offer(showing.offer.id)
    assert (offer.turn, offer.session) == ("turn-7", bob.session.id)
    assert offer.lease_until - offer.offered_at == timedelta(minutes=10)
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.offer, delivery.lease_until) == (OFFERED, offer.id, offer.lease_until)


async def test_two_offers_of_one_session_never_hold_the_same_delivery(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "first")
    assert texts(await bob.offer("turn-1")) == ["first"]
    assert await bob.offer("turn-2") is None
    await alice.send("bob", "second")
    assert texts(await bob.offer("turn-2")) == ["second"]


async def test_an_offer_takes_the_oldest_first_and_no_more_than_its_limit(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(5):
        await alice.send("bob", f"message {n}")
    assert texts(await bob.offer("turn-1", limit=2)) == ["message 0", "message 1"]
    assert texts(await bob.offer("turn-2", limit=2)) == ["message 2", "message 3"]


async def test_a_lease_that_ends_returns_the_delivery_to_the_queue(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    await show(bob, "turn-1")
    world.pass_time(minutes=9.9)
    assert await bob.offer("turn-2") is None
    world.pass_time(minutes=0.1)
    assert [d.state for d in await bob.inbox.peek()] == [QUEUED]  # a reader sees it before a process has recorded it
    assert texts(await bob.offer("turn-2")) == ["hi"]
    moves = [event for event in await world.events(Action.DELIVERY_MOVED) if event.message_id == receipt.message_id]
    assert [(e.details["move"], e.details["reason"], e.actor.agent) for e in moves] == [
        ("return", "its lease ended", "covey")
    ]


async def test_an_offer_whose_lease_ended_is_over(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi")
    showing = await show(bob)
    world.pass_time(minutes=11)
    await world.tend()
    offer = await world.offer(showing.offer.id)
    assert offer.ended_at is not None


async def test_upkeep_returns_lapsed_offers_that_no_session_reads(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    await show(bob)
    world.pass_time(minutes=10)
    await world.tend()
    assert (await world.delivery(receipt.message_id)).state is QUEUED


async def test_heartbeats_renew_a_live_offer(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    await show(bob)
    for _ in range(5):
        world.pass_time(minutes=9)
        await bob.heartbeat()
        await world.tend()
        assert (await world.delivery(receipt.message_id)).state is OFFERED
    world.pass_time(minutes=10)
    await world.tend()
    assert (await world.delivery(receipt.message_id)).state is QUEUED


async def test_a_heartbeat_renews_a_lease_for_its_original_duration(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi")
    showing = await bob.offer("turn", lease=timedelta(minutes=1))
    assert showing is not None
    for _ in range(3):
        world.pass_time(seconds=50)
        await bob.heartbeat()
        assert (await world.offer(showing.offer.id)).lease_until == world.clock.now() + timedelta(minutes=1)


async def test_a_heartbeat_ends_empty_offers_and_evidence_for_them_still_counts(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "I began")
    first = await show(bob, "turn-1", "until_handled")
    await bob.confirm(first.offer.id, "inferred", "an event")
    again = [await show(bob, f"turn-{n}", "until_handled") for n in (2, 3)]
    await bob.heartbeat()
    assert all([(await world.offer(showing.offer.id)).ended_at for showing in again])
    await bob.confirm(again[0].offer.id, "witnessed", "the nonce of turn-2 stands in the transcript")
    assert await receipt.until("in_context", grade="witnessed", timeout=0)


async def test_a_heartbeat_does_not_revive_an_offer_whose_lease_has_ended(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    await show(bob)
    world.pass_time(minutes=11)
    assert [d.state for d in await bob.inbox.peek()] == [QUEUED]
    await bob.heartbeat()
    assert [d.state for d in await bob.inbox.peek()] == [QUEUED]
    await alice.withdraw(receipt.message_id)


async def test_the_end_of_a_session_returns_its_offers(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    showing = await show(bob)
    await bob.leave()
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.is_parked, delivery.offer) == (QUEUED, True, None)
    assert (await world.offer(showing.offer.id)).ended_at is not None


async def test_an_offer_that_did_not_reach_the_model_can_be_given_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi")
    showing = await show(bob, "turn-1")
    await bob.give_back(showing.offer.id, "the turn was cancelled")
    await bob.give_back(showing.offer.id, "the turn was cancelled")
    assert texts(await bob.offer("turn-2")) == ["hi"]


async def test_evidence_for_a_past_offer_still_counts(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    past = await show(bob, "turn-1")
    world.pass_time(minutes=11)
    now = await show(bob, "turn-2")
    assert texts(now) == ["hi"]
    await bob.confirm(past.offer.id, "witnessed", "the nonce of turn-1 stands in the transcript")
    assert (await world.delivery(receipt.message_id)).state is HANDLED
    assert await receipt.until("in_context", timeout=0)
    world.pass_time(minutes=11)
    assert await bob.offer("turn-3") is None


async def test_evidence_for_an_offer_that_was_given_back_still_counts(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hi")
    showing = await show(bob)
    await bob.give_back(showing.offer.id)
    await bob.confirm(showing.offer.id, "witnessed", "it had reached the model after all")
    assert (await world.delivery(receipt.message_id)).state is HANDLED


async def test_evidence_for_an_offer_of_a_dead_session_settles_only_messages_that_ask_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    notify = await alice.send("bob", "it is done")
    request = await alice.send("bob", "shall I?", kind="request")
    past = await show(bob)
    world.kill(bob)
    (heir,) = await world.join("bob")
    await heir.confirm(past.offer.id, "witnessed", "found in the dead client's transcript")
    assert (await world.delivery(notify.message_id)).state is HANDLED
    assert (await world.delivery(request.message_id)).state is QUEUED  # the context that held the request is gone
    assert await request.until("in_context", timeout=0)  # yet a model had the request in context
    assert await waiting(heir) == ["shall I?"]


async def test_only_the_agent_that_an_offer_was_made_to_can_confirm_it(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await alice.send("bob", "hi")
    showing = await show(bob)
    with pytest.raises(NotYours):
        await carol.confirm(showing.offer.id, "witnessed", "I saw it")
    with pytest.raises(NotYours):
        await carol.give_back(showing.offer.id)
    with pytest.raises(OfferUnknown):
        await bob.confirm("00000000-0000-4000-8000-000000000000", "witnessed", "…")


async def test_a_session_that_has_ended_makes_no_offers(world: World) -> None:
    (bob,) = await world.join("bob")
    await bob.leave()
    with pytest.raises(Exception, match="has ended") as caught:
        await bob.offer("turn")
    assert getattr(caught.value, "code", None) == "session-ended"


async def test_the_iterator_finds_messages_that_arrive_behind_an_offer(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "offered")
    await alice.send("bob", "in context", kind="request")
    await read(bob)
    await alice.send("bob", "offered")
    await show(bob)
    await alice.send("bob", "fresh")
    found: list[str] = []
    while (delivery := await bob.inbox.next(timeout=0)) is not None:
        found.append(delivery.text)
    assert found[-1] == "fresh"
