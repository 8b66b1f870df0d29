"""Presentation: messages shown once or until handled, dismissals, and superseded states."""

from collections.abc import Sequence

import pytest

from covey.core.ledger.delivery import DeliveryState
from covey.surfaces.python.member import KindName, Member
from tests.scenarios.world import World, read, show, texts, waiting

pytestmark = pytest.mark.requirement("ledger.presentation")


async def until_handled(member: Member, turn: str) -> Sequence[str]:
    """Return the texts that a model call shows under `until_handled`, with evidence for it."""
    showing = await member.offer(turn, presentation="until_handled")
    if showing is not None:
        await member.confirm(showing.offer.id, "witnessed", "the model's response")
    return texts(showing)


async def test_a_notify_that_was_shown_once_is_handled(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "it is done")
    await read(bob)
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.HANDLED, "shown")
    assert await bob.offer("turn-2") is None
    assert await receipt.until("handled", timeout=0)


async def test_a_request_that_was_shown_once_stays_until_it_is_answered(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await read(bob)
    assert [d.state for d in await bob.inbox.peek()] == [DeliveryState.IN_CONTEXT]
    await bob.reply(receipt.message_id, "yes")
    assert await waiting(bob) == []
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


async def test_a_message_in_context_is_not_shown_again_under_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "shall I?", kind="request")
    await read(bob)
    for minutes in (0, 11, 60):
        world.pass_time(minutes=minutes)
        await world.tend()
        assert await bob.offer("turn") is None


async def test_until_handled_shows_a_message_in_every_model_call_until_it_is_dismissed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "I began")
    assert [await until_handled(bob, f"turn-{n}") for n in range(3)] == [["I began"]] * 3
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.IN_CONTEXT
    await bob.dismiss(receipt.message_id)
    assert await until_handled(bob, "turn-4") == []


@pytest.mark.parametrize("kind", ["notify", "request"])
async def test_until_handled_shows_a_message_in_every_model_call_until_it_is_answered(
    world: World, kind: KindName
) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "what do you do?", kind=kind)
    assert await until_handled(bob, "turn-1") == ["what do you do?"]
    assert await until_handled(bob, "turn-2") == ["what do you do?"]
    await bob.reply(receipt.message_id, "the parser", close=True)
    assert await until_handled(bob, "turn-3") == []
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


async def test_until_handled_shows_old_and_new_in_the_order_of_the_inbox(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "one")
    await until_handled(bob, "turn-1")
    await alice.send("bob", "two")
    assert await until_handled(bob, "turn-2") == ["one", "two"]


@pytest.mark.parametrize("step", ["queued", "offered", "in_context"])
@pytest.mark.parametrize("kind", ["notify", "request"])
async def test_dismissing_is_always_possible(world: World, kind: KindName, step: str) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "…", kind=kind)
    if step != "queued":
        showing = await show(bob, presentation="until_handled")
        if step == "in_context":
            await bob.confirm(showing.offer.id, "witnessed", "…")
    assert (await world.delivery(receipt.message_id)).state == step
    await bob.dismiss(receipt.message_id)
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.HANDLED, "dismissed")
    await bob.dismiss(receipt.message_id)  # dismissing again changes nothing


async def test_a_dismissed_request_stays_owed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request")
    await bob.dismiss(receipt.message_id)
    assert [ticket.message_id for ticket in await bob.owed()] == [receipt.message_id]


@pytest.mark.parametrize("kind", ["notify", "update"])
async def test_a_newer_state_of_a_subject_supersedes_the_older_one(world: World, kind: KindName) -> None:
    alice, bob = await world.join("alice", "bob")
    old = await alice.send("bob", "1 of 3", kind=kind, scope="build", subject="progress")
    new = await alice.send("bob", "2 of 3", kind=kind, scope="build", subject="progress")
    assert await waiting(bob) == ["2 of 3"]
    delivery = await world.delivery(old.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.SUPERSEDED, f"superseded by {new.message_id}")


async def test_a_request_neither_supersedes_nor_is_superseded(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "state 1", scope="build", subject="progress")
    await alice.send("bob", "asked 1", kind="request", scope="build", subject="progress")
    await alice.send("bob", "asked 2", kind="request", scope="build", subject="progress")
    await alice.send("bob", "state 2", scope="build", subject="progress")
    assert await waiting(bob) == ["asked 1", "asked 2", "state 2"]


async def test_only_the_same_sender_scope_and_subject_is_superseded(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await alice.send("bob", "the first", scope="build", subject="progress")
    await carol.send("bob", "another sender", scope="build", subject="progress")
    await alice.send("bob", "another scope", scope="tests", subject="progress")
    await alice.send("bob", "another subject", scope="build", subject="result")
    await alice.send("bob", "no scope", subject="progress")
    await alice.send("bob", "no scope again", subject="progress")
    await alice.send("bob", "no subject", scope="build")
    await alice.send("bob", "no subject again", scope="build")
    assert len(await waiting(bob)) == 8


async def test_a_shown_message_is_not_superseded(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    old = await alice.send("bob", "1 of 3", scope="build", subject="progress")
    await show(bob)
    await alice.send("bob", "2 of 3", scope="build", subject="progress")
    assert (await world.delivery(old.message_id)).state is DeliveryState.OFFERED


async def test_a_newer_state_takes_the_place_of_the_older_one_in_a_full_inbox(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", inbox_limit=1)
    await alice.send("bob", "1 of 3", scope="build", subject="progress")
    receipt = await alice.send("bob", "2 of 3", scope="build", subject="progress")
    assert not receipt.refused
    assert await waiting(bob) == ["2 of 3"]
