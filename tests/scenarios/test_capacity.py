"""Capacity: the behaviour of a full inbox."""

import pytest

from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind
from covey.core.ledger.ticket import TicketState, TicketTrouble
from tests.scenarios.world import World, read, show, texts, waiting

QUEUED, REFUSED, EVICTED = DeliveryState.QUEUED, DeliveryState.REFUSED, DeliveryState.EVICTED
EARLY = "11111111-0000-4000-8000-000000000000"


@pytest.mark.requirement("ledger.capacity")
async def test_hold_refuses_with_inbox_full_and_keeps_the_existing_messages(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", inbox_limit=2)
    for n in range(2):
        await alice.send("bob", f"message {n}")
    receipt = await alice.send("bob", "one too many")
    ((delivery),) = receipt.refused
    assert delivery.state is REFUSED
    assert delivery.reason is not None
    assert delivery.reason.startswith("inbox-full")
    assert await waiting(bob) == ["message 0", "message 1"]
    await read(bob)
    assert not (await alice.send("bob", "there is room again")).refused


@pytest.mark.requirement("ledger.capacity")
async def test_hold_is_the_default(world: World) -> None:
    (bob,) = await world.join("bob")
    assert (bob.session.capacity.limit, bob.session.capacity.overflow) == (10_000, "hold")


@pytest.mark.requirement("ledger.capacity")
async def test_the_capacity_of_the_card_applies_to_parked_mail(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", card={"capacity": {"limit": 1, "overflow": "hold"}})
    await bob.leave()
    assert not (await alice.send("bob", "first")).refused
    assert [d.state for d in (await alice.send("bob", "second")).refused] == [REFUSED]


@pytest.mark.requirement("ledger.capacity")
async def test_one_full_inbox_does_not_fail_the_others(world: World) -> None:
    alice, carol = await world.join("alice", "carol")
    bob = await world.process().join("bob", inbox_limit=1)
    roomy = await world.process().join("bob")
    await alice.send(bob.session.id, "it fills this inbox")
    receipt = await alice.send(["bob", "carol"], "hi")
    assert {d.inbox: d.state for d in receipt.deliveries} == {
        bob.session.inbox: REFUSED,
        roomy.session.inbox: QUEUED,
        carol.session.inbox: QUEUED,
    }


@pytest.mark.requirement("ledger.capacity")
async def test_evict_oldest_evicts_notifies_first_then_requests_and_notifies_their_askers(world: World) -> None:
    alice, carol = await world.join("alice", "carol")
    bob = await world.process().join("bob", inbox_limit=3, inbox_overflow="evict-oldest")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    first = await carol.send("bob", "note 1")
    second = await carol.send("bob", "note 2")
    await carol.send("bob", "may I?", kind="request")
    assert (await world.delivery(first.message_id)).state is EVICTED
    await carol.send("bob", "can I?", kind="request")
    assert (await world.delivery(second.message_id)).state is EVICTED
    assert await waiting(bob) == ["shall I?", "may I?", "can I?"]
    assert await waiting(alice) == []
    await carol.send("bob", "must I?", kind="request")
    assert await waiting(bob) == ["may I?", "can I?", "must I?"]
    evicted = await world.delivery(asked.message_id)
    assert (evicted.state, evicted.reason) == (EVICTED, "the inbox held its limit of 3")
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.trouble) == (TicketState.OPEN, TicketTrouble.EVICTED)
    (notice,) = await alice.inbox.peek()
    assert (notice.message.kind, notice.message.in_reply_to) == (Kind.UPDATE, asked.message_id)
    assert "evicted" in notice.text


@pytest.mark.requirement("ledger.capacity")
async def test_a_request_that_a_sibling_still_has_is_not_in_trouble(world: World) -> None:
    (alice,) = await world.join("alice")
    small = await world.process().join("bob", inbox_limit=1, inbox_overflow="evict-oldest")
    await world.process().join("bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    await alice.send(small.session.id, "may I?", kind="request")
    assert {d.state for d in await world.deliveries(asked.message_id)} == {EVICTED, QUEUED}
    assert (await world.ticket(asked.message_id, "bob")).trouble is None
    assert await waiting(alice) == []


@pytest.mark.requirement("ledger.capacity")
async def test_a_message_on_offer_is_not_evicted(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", inbox_limit=1, inbox_overflow="evict-oldest")
    first = await alice.send("bob", "first")
    await show(bob)
    await alice.send("bob", "second")
    await alice.send("bob", "third")
    assert (await world.delivery(first.message_id)).state is DeliveryState.OFFERED
    assert [d.text for d in await bob.inbox.peek()] == ["first", "third"]


@pytest.mark.requirement("ledger.capacity")
async def test_an_awaited_answer_passes_a_full_inbox(world: World) -> None:
    (bob,) = await world.join("bob")
    alice = await world.process().join("alice", inbox_limit=1)
    await bob.send("alice", "it fills alice's inbox")
    asked = await alice.send("bob", "shall I?", kind="request")
    answer = await bob.reply(asked.message_id, "yes")
    assert not answer.refused
    assert await waiting(alice) == ["it fills alice's inbox", "yes"]


@pytest.mark.requirement("peers.receive.cap")
async def test_a_peers_buffer_holds_64_messages_and_an_evicted_one_stays_readable(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", inbox_overflow="first-in-first-out")
    first = await alice.send("bob", "message 0", kind="request")
    for n in range(1, 66):
        receipt = await alice.send("bob", f"message {n}")
        assert not receipt.refused
    assert await waiting(bob) == [f"message {n}" for n in range(2, 66)]
    evicted = await world.delivery(first.message_id)
    assert evicted.state is EVICTED
    assert (await world.observer.thread(first.message_id))[0].text == "message 0"
    events = [e for e in await world.events(Action.DELIVERY_MOVED) if e.details["move"] == "evict"]
    assert [(e.message_id == first.message_id, e.details["to"]) for e in events] == [(True, EVICTED), (False, EVICTED)]
    assert all(e.details["reason"] == "the inbox held its limit of 64" for e in events)
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == [f"message {e.message_id} was evicted from {bob.session.inbox}, which was full" for e in events]


@pytest.mark.requirement("peers.receive.cap")
async def test_the_buffer_of_a_session_that_has_not_registered_yet_holds_64_messages_too(world: World) -> None:
    (alice,) = await world.join("alice")
    for n in range(66):
        await alice.send(EARLY, f"message {n}", await_session=True)
    bob = await world.process().join("bob", session_id=EARLY)
    assert await waiting(bob) == [f"message {n}" for n in range(2, 66)]


@pytest.mark.requirement("peers.receive.drain")
async def test_the_buffer_is_drained_oldest_first_at_the_start_of_the_next_turn(world: World) -> None:
    alice, carol = await world.join("alice", "carol")
    bob = await world.process().join("bob", inbox_overflow="first-in-first-out")
    for n in range(32):
        await alice.send("bob", f"alice {n}")
        await carol.send("bob", f"carol {n}")
    showing = await show(bob, "turn-1")
    assert texts(showing) == [f"{who} {n}" for n in range(32) for who in ("alice", "carol")]
    await bob.confirm(showing.offer.id, "witnessed", "the model's response")
    assert await waiting(bob) == []
    assert await bob.offer("turn-2") is None
