"""Truth values of results: `if result:` means that the call had the effect that the caller wanted."""

import asyncio

import pytest

import covey
from covey.core.attention.pending import OmittedCounts, Pending
from covey.core.names import AgentName
from covey.surfaces.python.member import Errand
from tests.scenarios.children import household
from tests.scenarios.world import LIMIT_S, World, show, soon


async def answer_next(member: covey.Member, text: str) -> None:
    delivery = await soon(member.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    await delivery.reply(text)


async def test_pending_is_true_while_a_message_waits(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert not await bob.pending()
    await alice.send("bob", "hello")
    assert await bob.pending()
    async with bob.turn() as turn:
        assert turn.pending
        turn.text()
        turn.responded("msg_1")
    assert not await bob.pending()
    async with bob.turn() as turn:
        assert not turn.pending


def test_pending_is_true_if_no_message_fits() -> None:
    assert Pending(AgentName("bob"), left_out=OmittedCounts(1, 0))


async def test_a_receipt_is_true_if_a_copy_reached_an_inbox(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert await alice.send("bob", "hello")
    await bob.leave()
    assert await alice.send("bob", "parked")
    refused = await alice.send("bob", "only if live", when_offline="refuse")
    assert not refused
    assert refused.refused
    carl = await world.observer.join("carl")
    assert await alice.send(["bob", "carl"], "one of two is live", when_offline="refuse")
    await carl.leave()
    assert not await alice.send("*", "to nobody")


async def test_an_outcome_is_true_only_if_the_question_was_answered(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    late = await alice.ask("bob", "shall I?", timeout=0)
    assert not late
    await answer_next(bob, "no")
    assert await alice.resume(late.ticket.id, timeout=0)  # any answer counts, also a "no"
    await bob.leave()
    assert not await alice.ask("bob", "and now?", timeout=0, when_offline="refuse")


async def test_a_conversation_in_which_the_wait_ends_without_an_answer_returns_its_first_outcome(world: World) -> None:
    """The services must not take a false outcome for a missing one."""
    alice, bob = await world.join("alice", "bob")
    exchange = asyncio.create_task(soon(alice.say(str(bob.session.key), "shall I?", timeout=None)))
    delivery = await soon(bob.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    await alice.waive((await world.is_owed(alice)).id)
    assert not await exchange


async def test_a_verdict_is_true_if_the_gate_is_passed(world: World) -> None:
    alice, _ = await world.join("alice", "bob")
    assert await alice.gate("build")
    await alice.send("bob", "shall I?", kind="request", scope="build")
    assert not await alice.gate("build")
    assert not await world.observer.gate("build")
    assert await alice.gate("build", force_because="it is late")


async def test_an_approval_is_true_only_if_the_request_was_approved(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    waiting = await alice.request_approval("bob", "plan", "May I?", timeout=0)
    assert not waiting
    await bob.approve(waiting.ticket.message_id)
    assert await alice.resume_approval(waiting.ticket.id, timeout=0)


async def test_an_exchange_is_true_only_if_the_other_side_replied(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert not await alice.say(str(bob.session.key), "for your information", timeout=0)
    asking = asyncio.create_task(soon(alice.say(str(bob.session.key), "shall I?", timeout=LIMIT_S)))
    assert await soon(bob.inbox.next(timeout=LIMIT_S)) is not None
    while not await bob.owed():
        assert await soon(bob.inbox.next(timeout=LIMIT_S)) is not None
    await bob.say(str(alice.session.key), "yes", timeout=0)
    assert await asking


async def test_a_run_result_is_true_only_if_the_child_completed_its_task(world: World) -> None:
    async def does(errand: Errand) -> str:
        return ""

    async def fails(errand: Errand) -> covey.Failure:
        return covey.Failure("it can't be done")

    (alice,) = await world.join("alice")
    async with household(world):
        done = await (await alice.spawn("do it", run=does)).result(timeout=LIMIT_S)
        failed = await (await alice.spawn("do it", run=fails)).result(timeout=LIMIT_S)
    assert (done is not None, failed is not None) == (True, True)
    assert (bool(done), bool(failed)) == (True, False)


@pytest.mark.parametrize(
    ("outcome", "expected"), [(covey.Result(), True), (covey.Result("done"), True), (covey.Failure("broken"), False)]
)
def test_a_result_is_true_and_a_failure_is_false(outcome: covey.Result | covey.Failure, expected: bool) -> None:
    assert bool(outcome) is expected


async def test_an_injection_is_true_if_there_was_mail(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    request = [{"role": "user", "content": "Go on."}]
    async with bob.turn() as turn:
        assert not turn.inject(request, provider="anthropic")
    await alice.send("bob", "hello")
    async with bob.turn() as turn:
        assert turn.inject(request, provider="anthropic")


async def test_a_showing_is_true_if_it_shows_a_message(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hello")
    assert (shown := await show(bob))
    assert not shown._replace(items=())
