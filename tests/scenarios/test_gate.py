"""The gate: it passes if nothing in a scope is owed. Forcing the gate, and the sweep after it."""

import pytest

from covey.core.errors import GateClosed, Invalid
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import TicketMove, TicketState
from tests.scenarios.world import World, ask_back, waiting


@pytest.mark.requirement("dialogue.gate")
async def test_the_gate_refuses_while_any_request_is_unarchived_answered_or_not(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert (await world.observer.gate("build")).passed
    first = await alice.send("bob", "…", kind="request", scope="build", subject="style")
    second = await alice.send("bob", "…", kind="request", scope="build", subject="unmet-criterion")
    await bob.reply(first.message_id, "misses the point", close=False)
    verdict = await world.observer.gate("build")
    assert (verdict.passed, verdict.subjects) == (False, ("style", "unmet-criterion"))
    assert [t.message_id for t in verdict.answered] == [first.message_id]
    with pytest.raises(GateClosed) as caught:
        await alice.sweep("build")
    assert caught.value.code == "loop-commit-precondition-missing"
    assert caught.value.details == {
        "scope": "build",
        "missing": "pending-replies-cleared",
        "observed_pending_replies": 2,
        "pending_subjects": ["style", "unmet-criterion"],
    }
    await bob.archive(first.message_id)
    assert (await world.observer.gate("build")).subjects == ("unmet-criterion",)
    await bob.reply(second.message_id, "done", close=False)
    await bob.archive(second.message_id)
    assert (await world.observer.gate("build")).passed


@pytest.mark.requirement("dialogue.gate")
async def test_the_gate_looks_at_its_own_scope_and_at_requests_only(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "…", kind="request", scope="docs")
    await alice.send("bob", "…", kind="request")
    await alice.send("bob", "…", scope="build")
    assert (await world.observer.gate("build")).passed
    assert not (await bob.gate("docs")).passed


@pytest.mark.requirement("dialogue.gate")
async def test_a_question_back_is_counted_beside_the_question(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "…", kind="request", scope="build", subject="style")
    await ask_back(world, bob, asked.message_id, "which one?")
    verdict = await world.observer.gate("build")
    assert [(t.asker, t.debtor) for t in verdict.owed] == [("alice", "bob"), ("bob", "alice")]
    assert verdict.subjects == ("style",)  # each subject once


@pytest.mark.requirement("dialogue.gate")
async def test_a_refused_request_is_not_owed(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.process().join("bob", card={"allow_from": []})
    receipt = await alice.send("bob", "…", kind="request", scope="build")
    assert receipt.refused
    assert (await world.observer.gate("build")).passed


@pytest.mark.requirement("dialogue.gate.force")
async def test_a_forced_gate_passes_and_records_the_actor_the_reason_and_the_owed_tickets(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.send("bob", "…", kind="request", scope="build", subject="style")
    second = await alice.send("bob", "…", kind="request", scope="build", subject="dead-code")
    other = await alice.send("bob", "…", kind="request", scope="docs")
    await bob.reply(first.message_id, "…", close=False)
    verdict = await bob.gate("build", force_because="the release can't wait")
    assert (verdict.passed, verdict.forced, len(verdict.owed)) == (True, True, 2)
    assert (await world.observer.gate("build")).passed
    (event,) = await world.events(Action.GATE_FORCED)
    assert (event.actor, event.scope, event.details["why"]) == (bob.identity, "build", "the release can't wait")
    assert event.details["over"] == [f"{first.message_id}@bob", f"{second.message_id}@bob"]
    for receipt in (first, second):
        ticket = await world.ticket(receipt.message_id, "bob")
        assert (ticket.state, ticket.close_reason) == (TicketState.CLOSED, TicketMove.FORCE)
    assert (await world.ticket(other.message_id, "bob")).state is TicketState.OPEN


@pytest.mark.requirement("dialogue.gate.force")
@pytest.mark.parametrize("why", ["", "   ", "\n\t"])
async def test_forcing_needs_a_reason(world: World, why: str) -> None:
    alice, _bob = await world.join("alice", "bob")
    await alice.send("bob", "…", kind="request", scope="build")
    before = await world.snapshot()
    with pytest.raises(Invalid):
        await alice.gate("build", force_because=why)
    with pytest.raises(Invalid):
        await alice.sweep("build", force_because=why)
    assert await world.snapshot() == before


@pytest.mark.requirement("dialogue.gate.force", "dialogue.sweep")
async def test_a_forced_sweep_closes_owed_requests(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    swept = await alice.sweep("build", force_because="bob is gone for the day")
    assert (swept.messages_swept, swept.verdict.forced) == (1, True)
    assert (await world.delivery(asked.message_id)).state is DeliveryState.HANDLED
    assert await waiting(bob) == []
    assert len(await world.events(Action.GATE_FORCED)) == 1


@pytest.mark.requirement("dialogue.sweep")
async def test_a_sweep_archives_and_counts_all_messages_of_the_scope(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    await bob.reply(asked.message_id, "yes")
    await bob.archive(asked.message_id)
    note = await alice.send("bob", "note", scope="build")
    kept = await alice.send("bob", "elsewhere", scope="docs")
    swept = await bob.sweep("build")
    assert (swept.scope, swept.messages_swept) == ("build", 3)
    (event,) = await world.events(Action.MESSAGE_SWEPT)
    assert (event.action.value, event.scope, event.details["moved"]) == ("task-swept", "build", 3)
    assert event.actor == bob.identity
    assert await waiting(alice) == []
    assert await waiting(bob) == ["elsewhere"]
    assert (await world.delivery(note.message_id)).state is DeliveryState.HANDLED
    assert (await world.delivery(kept.message_id)).state is DeliveryState.QUEUED
    assert [m.text for m in await world.observer.thread(asked.message_id)] == ["shall I?", "yes"]  # still readable


@pytest.mark.requirement("dialogue.sweep")
async def test_a_second_sweep_counts_only_new_messages(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await alice.send("bob", "one", scope="build")
    assert (await alice.sweep("build")).messages_swept == 1
    assert (await alice.sweep("build")).messages_swept == 0
    await alice.send("bob", "two", scope="build")
    assert (await alice.sweep("build")).messages_swept == 1
    assert [e.details["moved"] for e in await world.events(Action.MESSAGE_SWEPT)] == [1, 0, 1]


@pytest.mark.requirement("dialogue.sweep")
async def test_a_sweep_that_the_gate_refuses_changes_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "note", scope="build")
    await alice.send("bob", "shall I?", kind="request", scope="build")
    before = await world.snapshot()
    with pytest.raises(GateClosed):
        await bob.sweep("build")
    assert await world.snapshot() == before
