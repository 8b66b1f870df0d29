"""Parking: mail for an agent without a live session."""

from datetime import timedelta

import pytest

from covey.core.errors import SessionUnknown
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action
from covey.core.names import InboxId
from covey.ports.store import Transaction
from tests.scenarios.world import World, read, show, waiting

QUEUED, HANDLED = DeliveryState.QUEUED, DeliveryState.HANDLED
EARLY = "11111111-0000-4000-8000-000000000000"


async def in_inbox(world: World, inbox: InboxId) -> list[DeliveryRecord]:
    async def operation(tx: Transaction) -> list[DeliveryRecord]:
        return list(await tx.inboxes.waiting(inbox, WAITING))

    return await world.observer.store.read(operation)


@pytest.mark.requirement("ledger.parking", "mailbox.offline")
async def test_mail_for_an_offline_agent_waits_and_the_first_session_adopts_all_of_it_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    for n in range(3):
        receipt = await alice.send("bob", f"message {n}")
        assert [(d.state, d.is_parked) for d in receipt.deliveries] == [(QUEUED, True)]
    first, second = await world.join("bob", "bob")
    assert await waiting(first) == ["message 0", "message 1", "message 2"]
    assert await waiting(second) == []


@pytest.mark.requirement("ledger.parking")
async def test_more_than_a_page_of_parked_mail_is_adopted_whole_and_in_order(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    for n in range(1_005):
        await alice.send("bob", str(n))
    (heir,) = await world.join("bob")
    found = [int(d.text) for d in await heir.inbox.peek()]
    assert found == list(range(1_000))  # a peek is bounded
    count = 0
    while (delivery := await heir.inbox.next(timeout=0)) is not None:
        assert delivery.text == str(count)
        count += 1
    assert count == 1_005


@pytest.mark.requirement("ledger.parking")
async def test_a_send_may_refuse_instead_of_parking(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    receipt = await alice.send("bob", "hi", when_offline="refuse")
    (delivery,) = receipt.deliveries
    assert delivery.state is DeliveryState.UNDELIVERABLE
    assert delivery.reason is not None
    assert delivery.reason.startswith("no-live-session")
    (heir,) = await world.join("bob")
    assert await waiting(heir) == []


@pytest.mark.requirement("ledger.parking")
async def test_an_agent_that_never_had_a_session_is_offline_and_reachable(world: World) -> None:
    (alice,) = await world.join("alice")
    await alice.send("ghost", "welcome", when_unknown="register")
    (ghost,) = await world.join("ghost")
    assert await waiting(ghost) == ["welcome"]


@pytest.mark.requirement("ledger.parking", "peers.receive.forget")
@pytest.mark.parametrize("end", ["leave", "kill"])
async def test_unhandled_mail_of_an_ended_session_is_parked_for_the_next(world: World, end: str) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "in context", kind="request")
    await read(bob)
    await alice.send("bob", "offered")
    await show(bob)
    await alice.send("bob", "queued")
    if end == "leave":
        await bob.leave()
    else:
        world.kill(bob)
        await world.tend()
    assert await in_inbox(world, bob.session.inbox) == []
    (heir,) = await world.join("bob")
    found = await heir.inbox.peek()
    assert [(d.text, d.state) for d in found] == [("in context", QUEUED), ("offered", QUEUED), ("queued", QUEUED)]


@pytest.mark.requirement("ledger.parking")
async def test_handled_mail_is_not_parked(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "it is done")
    await read(bob)
    await bob.leave()
    (heir,) = await world.join("bob")
    assert await waiting(heir) == []
    assert (await world.delivery(receipt.message_id)).state is HANDLED


@pytest.mark.requirement("ledger.parking")
async def test_if_a_sibling_holds_a_copy_the_copy_of_an_ended_session_is_settled(world: World) -> None:
    alice, bob, sibling = await world.join("alice", "bob", "bob")
    receipt = await alice.send("bob", "it is done")
    await bob.leave()
    left, held = await world.deliveries(receipt.message_id)
    assert (left.state, left.reason, held.state) == (HANDLED, "a sibling holds it", QUEUED)
    assert await waiting(sibling) == ["it is done"]
    assert not await receipt.until("offered", timeout=0)  # no model was shown the message
    assert not await receipt.until("handled", timeout=0)


@pytest.mark.requirement("ledger.parking")
async def test_a_sibling_that_has_handled_its_copy_gets_no_other(world: World) -> None:
    alice, bob, sibling = await world.join("alice", "bob", "bob")
    await alice.send("bob", "it is done")
    await read(sibling)
    world.kill(bob)
    await world.tend()
    assert await sibling.offer("turn-2") is None


@pytest.mark.requirement("ledger.parking")
async def test_the_mail_of_an_ended_session_goes_to_a_live_sibling_without_a_copy(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "before the sibling came")
    (sibling,) = await world.join("bob")
    world.kill(bob)
    await alice.send("bob", "after")
    assert await waiting(sibling) == ["before the sibling came", "after"]


@pytest.mark.requirement("ledger.parking")
async def test_sessions_that_die_together_leave_one_copy(world: World) -> None:
    (alice,) = await world.join("alice")
    process = world.process()
    first, _second = await process.join("bob"), await process.join("bob")
    receipt = await alice.send("bob", "it is done")
    assert len(receipt.deliveries) == 2
    world.kill(first)
    (heir,) = await world.join("bob")
    assert await waiting(heir) == ["it is done"]


@pytest.mark.requirement("ledger.parking")
async def test_mail_to_an_ended_session_goes_to_the_heir_of_its_mail(world: World) -> None:
    alice, gone, sibling = await world.join("alice", "bob", "bob")
    await gone.leave()
    await alice.send(gone.session.id, "to the id")
    await alice.send(str(sibling.session.key), "to the sibling")
    assert await waiting(sibling) == ["to the id", "to the sibling"]
    refused = await alice.send(gone.session.id, "to the id", when_offline="refuse")
    assert [d.state for d in refused.deliveries] == [DeliveryState.UNDELIVERABLE]


@pytest.mark.requirement("peers.receive.on-demand")
async def test_mail_to_a_session_that_has_not_registered_yet_is_delivered_when_it_does(world: World) -> None:
    (alice,) = await world.join("alice")
    receipt = await alice.send(EARLY, "welcome", await_session=True)
    assert [(d.agent, d.state) for d in receipt.deliveries] == [(None, QUEUED)]
    world.pass_time(minutes=9)
    bob = await world.process().join("bob", session_id=EARLY)
    (found,) = await bob.inbox.peek()
    assert (found.text, found.number, found.record.agent) == ("welcome", 1, "bob")
    world.pass_time(minutes=60)
    assert await waiting(bob) == ["welcome"]  # once the session has joined, its mail does not expire


@pytest.mark.requirement("peers.receive.on-demand")
async def test_mail_for_a_session_that_never_registers_expires_after_ten_minutes(world: World) -> None:
    (alice,) = await world.join("alice")
    receipt = await alice.send(EARLY, "welcome", await_session=True)
    world.pass_time(minutes=10)
    bob = await world.process().join("bob", session_id=EARLY)  # too late, though the expiry is not recorded yet
    assert await waiting(bob) == []
    await world.tend()
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.EXPIRED


@pytest.mark.requirement("peers.receive.on-demand")
async def test_the_senders_own_expiry_applies_to_mail_that_waits_for_a_session(world: World) -> None:
    (alice,) = await world.join("alice")
    await alice.send(EARLY, "welcome", await_session=True, expires_in=timedelta(minutes=2))
    bob = await world.process().join("bob", session_id=EARLY)
    assert await waiting(bob) == ["welcome"]
    world.pass_time(minutes=2)
    assert await waiting(bob) == []


@pytest.mark.requirement("peers.receive.on-demand")
async def test_an_unregistered_session_can_only_be_addressed_by_the_peers_policy(world: World) -> None:
    (alice,) = await world.join("alice")
    before = await world.position()
    with pytest.raises(SessionUnknown):
        await alice.send(EARLY, "welcome")
    assert await world.position() == before


@pytest.mark.requirement("peers.receive.forget")
async def test_a_session_that_ended_leaves_no_live_offer_no_mail_and_no_place_in_the_directory(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi")
    showing = await show(bob)
    world.kill(bob)
    await alice.send("bob", "are you there?")
    assert (await world.offer(showing.offer.id)).ended_at is not None
    assert await in_inbox(world, bob.session.inbox) == []
    assert (await world.observer.agent("bob")).sessions == ()
    (ended,) = await world.events(Action.SESSION_ENDED)
    assert (ended.details["reason"], str(ended.actor)) == ("its process is gone", "covey (space)")
