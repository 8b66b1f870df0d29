"""Evidence: the proof that a delivery is in_context, and its grade."""

import asyncio

import pytest

from covey.core.errors import DeliveryUnknown
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.offer import EvidenceGrade, Presentation
from tests.scenarios.world import LIMIT_S, World, read, show, soon

pytestmark = pytest.mark.requirement("ledger.evidence")

IN_CONTEXT = DeliveryState.IN_CONTEXT


@pytest.mark.parametrize("grade", list(EvidenceGrade))
async def test_evidence_makes_a_delivery_in_context_with_its_grade(world: World, grade: EvidenceGrade) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    showing = await show(bob)
    (delivery,) = await bob.confirm(showing.offer.id, grade.value, "why we think so")
    assert (delivery.state, delivery.grade) == (IN_CONTEXT, grade)
    assert await world.delivery(receipt.message_id) == delivery
    (event,) = await world.events(Action.EVIDENCE)
    assert (event.details["grade"], event.details["basis"], event.actor) == (grade, "why we think so", bob.identity)
    assert event.details["offer"] == showing.offer.id


async def test_naming_a_message_is_evidence_that_the_model_had_it_in_context(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await show(bob)
    (delivery,) = await world.services.offers.named(receipt.message_id, bob.identity, "reply_to in a call")
    assert (delivery.state, delivery.grade) == (IN_CONTEXT, EvidenceGrade.NAMED)


async def test_naming_a_message_that_was_not_shown_is_a_guess_and_proves_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    before = await world.position()
    (delivery,) = await world.services.offers.named(receipt.message_id, bob.identity, "1 in a call")
    assert (delivery.state, delivery.grade, await world.position()) == (DeliveryState.QUEUED, None, before)
    showing = await show(bob)
    await bob.give_back(showing.offer.id)
    (delivery,) = await world.services.offers.named(receipt.message_id, bob.identity, "1 in a call")
    assert (delivery.state, delivery.grade) == (DeliveryState.QUEUED, None)
    await show(bob)
    world.pass_time(minutes=11)  # the lease has ended, but the model may have read the message
    await world.tend()
    (delivery,) = await world.services.offers.named(receipt.message_id, bob.identity, "1 in a call")
    assert (delivery.state, delivery.grade) == (IN_CONTEXT, EvidenceGrade.NAMED)


async def test_a_showing_to_another_session_does_not_make_naming_evidence(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await show(bob)
    await bob.leave()
    (heir,) = await world.join("bob")
    (delivery,) = await world.services.offers.named(receipt.message_id, heir.identity, "1 in a call")
    assert (delivery.state, delivery.grade) == (DeliveryState.QUEUED, None)


async def test_naming_a_message_of_another_recipient_proves_nothing(world: World) -> None:
    alice, _bob, carol = await world.join("alice", "bob", "carol")
    receipt = await alice.send("bob", "shall I?", kind="request")
    with pytest.raises(DeliveryUnknown):
        await world.services.offers.named(receipt.message_id, carol.identity, "reply_to in a call")


async def test_only_evidence_makes_a_delivery_in_context(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await bob.inbox.peek()
    assert await bob.inbox.next(timeout=0) is not None
    await world.services.inbox.peek(bob.name)
    for turn in ("turn-1", "turn-2"):
        await show(bob, turn)
        await bob.heartbeat()
        await bob.set_busy()
        world.pass_time(minutes=11)
        await world.tend()
    await receipt.refresh()
    assert not await receipt.until("in_context", grade="inferred", timeout=0)
    assert [(d.state, d.grade) for d in receipt.deliveries] == [(DeliveryState.QUEUED, None)]


async def test_a_receipt_requires_witnessed_or_named_evidence_by_default(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await read(bob, "inferred")
    assert not await receipt.until("in_context", timeout=0)
    assert await receipt.until("in_context", grade="inferred", timeout=0)
    await world.services.offers.named(receipt.message_id, bob.identity, "reply_to in a call")
    assert await receipt.until("in_context", timeout=0)
    assert not await receipt.until("in_context", grade="witnessed", timeout=0)


async def test_more_evidence_never_weakens_the_grade(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    showing = await read(bob, "witnessed")
    await bob.confirm(showing.offer.id, "inferred", "an event")
    assert (await world.delivery(receipt.message_id)).grade is EvidenceGrade.WITNESSED


async def test_better_evidence_counts_for_a_handled_delivery(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "it is done")
    showing = await read(bob, "inferred")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED
    await bob.confirm(showing.offer.id, "witnessed", "the nonce stands in the transcript")
    assert await receipt.until("in_context", grade="witnessed", timeout=0)


async def test_evidence_for_a_part_of_an_offer_leaves_the_rest_offered(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "one", kind="request")
    await alice.send("bob", "two", kind="request")
    showing = await show(bob)
    await bob.confirm(showing.offer.id, "named", "reply_to in a call", only=[showing.items[0].delivery.id])
    assert [d.state for d in await bob.inbox.peek()] == [IN_CONTEXT, DeliveryState.OFFERED]
    world.pass_time(minutes=11)
    assert [d.state for d in await bob.inbox.peek()] == [IN_CONTEXT, DeliveryState.QUEUED]


async def test_evidence_wakes_a_waiting_receipt(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(soon(receipt.until("in_context", timeout=LIMIT_S)))
        await read(bob)
    assert waiting.result()


async def test_evidence_from_an_ended_session_does_not_strand_a_message_that_is_shown_until_handled(
    world: World,
) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "it is done")
    past = await show(bob, presentation="until_handled")
    await bob.leave()
    await world.services.offers.confirm(past.offer.id, bob.identity, EvidenceGrade.WITNESSED, "transcript")
    (heir,) = await world.join("bob")
    showing = await world.services.offers.offer(heir.identity, "turn", presentation=Presentation.UNTIL_HANDLED)
    assert showing is not None
