"""Asks: every outcome of a question, each a value with its ticket."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta

import pytest

from covey.adapters.memory import MemoryWakeups
from covey.core.errors import Invalid, NotYours, TicketUnknown
from covey.core.identity import Address, AddressKind
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.ledger.ticket import TicketState
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from covey.testing.fakes import DeafWakeups
from tests.scenarios.world import LIMIT_S, OpenStore, World, read, soon, waiting

pytestmark = pytest.mark.requirement("ask.outcomes")


async def answer_next(member: Member, text: str) -> None:
    delivery = await soon(member.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    await delivery.reply(text)


async def test_an_ask_that_is_answered_is_replied(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=LIMIT_S)))
        group.create_task(answer_next(bob, "yes"))
    outcome = asking.result()
    assert (outcome.kind, outcome.text) == (OutcomeKind.REPLIED, "yes")
    assert outcome.ticket.state is TicketState.CLOSED
    assert await waiting(alice) == []  # the ask returned the answer, which does not arrive a second time
    assert await alice.offer("turn") is None


async def test_an_ask_whose_wait_runs_out_is_delivered_no_reply_and_the_late_answer_arrives_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    outcome = await alice.ask("bob", "shall I?", timeout=0)
    assert (outcome.kind, outcome.answer, outcome.ticket.state) == (
        OutcomeKind.DELIVERED_NO_REPLY,
        None,
        TicketState.OPEN,
    )
    assert outcome.reason
    await answer_next(bob, "yes, late")
    (late,) = await alice.inbox.peek()
    assert (late.text, late.message.thread) == ("yes, late", outcome.ticket.message_id)
    await read(alice)
    assert await alice.offer("turn-2") is None


async def test_an_answer_is_found_even_if_every_wake_up_is_lost(open_store: OpenStore) -> None:
    world = World(open_store, DeafWakeups(MemoryWakeups()))
    alice, bob = await world.join("alice", "bob")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=LIMIT_S)))
        group.create_task(answer_next(bob, "yes"))
    assert asking.result().text == "yes"
    await world.close()


async def test_the_clock_ends_a_wait(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=30)))
        await world.is_owed(alice)
        world.pass_time(seconds=30)
    assert asking.result().kind is OutcomeKind.DELIVERED_NO_REPLY


async def test_an_ask_can_be_resumed_by_its_ticket(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.ask("bob", "shall I?", timeout=0)
    async with asyncio.TaskGroup() as group:
        resuming = group.create_task(soon(alice.resume(first.ticket.id, timeout=LIMIT_S)))
        group.create_task(answer_next(bob, "yes"))
    assert (resuming.result().kind, resuming.result().text) == (OutcomeKind.REPLIED, "yes")
    again = await alice.resume(first.ticket.id, timeout=0)
    assert (again.kind, again.text) == (OutcomeKind.REPLIED, "yes")
    assert await waiting(alice) == []


@pytest.mark.parametrize("answered_before", [True, False])
async def test_an_ask_survives_the_asker_s_death(world: World, answered_before: bool) -> None:
    alice, bob = await world.join("alice", "bob")
    outcome = await alice.ask("bob", "shall I?", timeout=0)
    world.kill(alice)
    if answered_before:
        await answer_next(bob, "yes")
    (heir,) = await world.join("alice")
    if not answered_before:
        await answer_next(bob, "yes")
    assert await waiting(heir) == ["yes"]
    resumed = await heir.resume(outcome.ticket.id, timeout=0)
    assert (resumed.kind, resumed.text) == (OutcomeKind.REPLIED, "yes")
    assert await waiting(heir) == []  # the ask returned the answer, which does not arrive a second time


async def test_an_ask_of_an_offline_agent_is_answered_when_the_agent_is_back(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=LIMIT_S)))
        await world.is_owed(alice)
        (heir,) = await world.join("bob")
        group.create_task(answer_next(heir, "yes"))
    assert asking.result().text == "yes"


async def test_an_ask_without_a_live_recipient_is_undeliverable(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    outcome = await alice.ask("bob", "shall I?", timeout=LIMIT_S, when_offline="refuse")
    assert outcome.kind is OutcomeKind.UNDELIVERABLE
    assert "no-live-session" in outcome.reason
    assert outcome.ticket.state is TicketState.OPEN


async def test_an_ask_that_is_evicted_is_undeliverable(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.process().join("bob", inbox_limit=1, inbox_overflow="first-in-first-out")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=LIMIT_S)))
        await world.is_owed(alice)
        await alice.send("bob", "fresh news")
    assert asking.result().kind is OutcomeKind.UNDELIVERABLE
    assert await waiting(alice) == []  # the outcome reported the eviction, so the notice does not arrive as well


@pytest.mark.parametrize("rule", ["allow_from", "allowed_delegates", "inbox"])
async def test_an_ask_that_the_rules_keep_out_is_refused(world: World, rule: str) -> None:
    alice = await world.process().join(
        "alice", card={"allowed_delegates": ["carol"]} if rule == "allowed_delegates" else None
    )
    await world.process().join("bob", card={"allow_from": ["carol"]} if rule == "allow_from" else None, inbox_limit=1)
    (carol,) = await world.join("carol")
    if rule == "inbox":
        await carol.send("bob", "it fills bob's inbox")
    outcome = await alice.ask("bob", "shall I?", timeout=LIMIT_S)
    assert outcome.kind is OutcomeKind.REFUSED
    assert ("inbox-full" if rule == "inbox" else rule) in outcome.reason
    assert outcome.ticket.state is TicketState.CLOSED


async def test_an_ask_that_is_not_read_in_time_is_expired(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(
            soon(alice.ask("bob", "shall I?", timeout=600, expires_in=timedelta(minutes=5), scope="build"))
        )
        await world.is_owed(alice)
        world.pass_time(minutes=5)
    outcome = asking.result()
    assert outcome.kind is OutcomeKind.EXPIRED
    assert outcome.reason
    assert (await world.delivery(outcome.ticket.message_id)).state is DeliveryState.EXPIRED
    assert await waiting(alice) == await waiting(bob) == []
    assert not (await world.observer.gate("build")).passed  # expired, and still owed


async def test_an_ask_that_is_waived_meanwhile_ends(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    first = await alice.ask("bob", "shall I?", timeout=0)
    async with asyncio.TaskGroup() as group:
        resuming = group.create_task(soon(alice.resume(first.ticket.id, timeout=LIMIT_S)))
        await alice.waive(first.ticket.id)
    assert resuming.result().kind is OutcomeKind.DELIVERED_NO_REPLY


async def test_asking_again_with_the_same_id_asks_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    message_id = "1767225600000-22222222-0000-4000-8000-000000000000"
    for _ in range(2):
        outcome = await alice.ask("bob", "shall I?", timeout=0, id=message_id)
        assert outcome.ticket.message_id == message_id
    assert await waiting(bob) == ["shall I?"]


async def test_only_the_asker_resumes(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    outcome = await alice.ask("bob", "shall I?", timeout=0)
    with pytest.raises(NotYours):
        await bob.resume(outcome.ticket.id, timeout=0)
    with pytest.raises(TicketUnknown):
        await alice.resume(f"{outcome.ticket.message_id}@carol", timeout=0)


async def test_an_ask_goes_to_one_agent_and_a_wrong_one_changes_nothing(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    before = await world.position()
    with pytest.raises(Invalid):
        await alice.ask("*", "shall I?", timeout=0)
    assert await world.position() == before


async def _asked(world: World, alice: Member, bob: Member, count: int) -> asyncio.Task[Outcome]:
    """Let alice ask while another part of her program reads her inbox. Return when bob has answered."""
    asking = asyncio.create_task(soon(alice.ask("bob", f"shall I {count}?", timeout=LIMIT_S, answers_meanwhile=True)))
    await answer_next(bob, f"yes {count}")
    return asking


@pytest.mark.requirement("trust.once")
async def test_an_answer_that_is_waited_for_does_not_arrive_in_the_inbox_as_well(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for count in range(10):
        asking = await _asked(world, alice, bob, count)
        in_between = [await alice.inbox.next(timeout=0), await alice.offer("turn")]
        shown = (await alice.pending()).letters
        assert (await asking).text == f"yes {count}"
        assert (in_between, shown) == ([None, None], ())
    assert await alice.inbox.next(timeout=0) is None


async def test_other_mail_overtakes_an_answer_that_an_ask_waits_for(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asking = await _asked(world, alice, bob, 1)
    await carol.send("alice", "news")
    found = await soon(alice.inbox.next(timeout=LIMIT_S))
    assert found is not None
    assert found.text == "news"
    assert (await asking).text == "yes 1"
    assert await alice.inbox.next(timeout=0) is None


@pytest.mark.requirement("trust.once")
async def test_an_answer_whose_asker_gave_up_arrives_in_the_inbox_once(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    wait = alice.ask("bob", "shall I?", timeout=LIMIT_S, answers_meanwhile=True)
    asking = asyncio.create_task(soon(wait))
    question = await soon(bob.inbox.next(timeout=LIMIT_S))
    assert question is not None
    # the answer is there, and the asker is cancelled before it takes the answer
    async with asyncio.TaskGroup() as group:
        group.create_task(_cancel_after(question.reply("yes"), asking))
    await carol.send("alice", "news")
    answered = asking.done() and not asking.cancelled()
    found = [await alice.inbox.next(timeout=0) for _ in range(3)]
    texts = sorted(delivery.text for delivery in found if delivery is not None)
    assert texts == (["news"] if answered else ["news", "yes"])


async def _cancel_after(first: Coroutine[object, object, object], task: asyncio.Task[Outcome]) -> None:
    await first
    task.cancel()
    await asyncio.wait([task], timeout=LIMIT_S)


async def test_the_wait_of_a_dead_process_reserves_its_answer_only_for_its_duration(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    draft = Draft(Kind.REQUEST, (Address(AddressKind.AGENT, "bob"),), (TextPart("shall I?"),), expects_reply=True)
    policy = SendPolicy(waits=30.0)
    await world.services.asks.ask(draft, alice.identity, policy, 0)  # as `covey ask` does before it waits
    await answer_next(bob, "yes")
    assert await alice.inbox.next(timeout=0) is None
    world.pass_time(seconds=31)
    assert await alice.inbox.next(timeout=0) is None  # the waiter may be about to take the answer
    world.pass_time(seconds=60)
    found = await alice.inbox.next(timeout=0)
    assert found is not None
    assert found.text == "yes"


async def test_an_answer_after_a_wait_timed_out_arrives_in_the_inbox_at_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(alice.ask("bob", "shall I?", timeout=30, answers_meanwhile=True)))
        await world.is_owed(alice)
        world.pass_time(seconds=30)
    assert asking.result().kind is OutcomeKind.DELIVERED_NO_REPLY
    await answer_next(bob, "yes")
    found = await alice.inbox.next(timeout=0)
    assert found is not None
    assert found.text == "yes"
