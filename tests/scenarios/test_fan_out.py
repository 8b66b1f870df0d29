"""Fan-out: the inboxes that a message goes to."""

import pytest

from covey.core.errors import SessionEnded
from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.names import MessageId, session_inbox
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.world import World, show, texts, waiting
from tests.services.claiming import claim_next

pytestmark = pytest.mark.requirement("ledger.fan-out")

HANDLED, QUEUED = DeliveryState.HANDLED, DeliveryState.QUEUED


async def test_a_notify_goes_to_each_live_session_and_each_copy_is_independent(world: World) -> None:
    alice, bob, other = await world.join("alice", "bob", "bob")
    receipt = await alice.send("bob", "it is done")
    assert {d.inbox for d in receipt.deliveries} == {bob.session.inbox, other.session.inbox}
    await bob.dismiss(receipt.message_id)
    assert [d.state for d in await world.deliveries(receipt.message_id)] == [HANDLED, QUEUED]
    assert await waiting(other) == ["it is done"]


async def test_a_request_goes_to_each_live_session_and_is_one_debt(world: World) -> None:
    alice, bob, other = await world.join("alice", "bob", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    assert len(asked.deliveries) == 2
    assert len(await bob.owed()) == 1
    await show(other)
    answer = await bob.reply(asked.message_id, "yes", close=False)
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.answer) == (TicketState.ANSWERED, answer.message_id)
    copies = await world.deliveries(asked.message_id)
    assert [(d.state, d.reason) for d in copies] == [(HANDLED, "answered"), (HANDLED, "answered by sibling")]
    assert await waiting(other) == []
    assert await other.offer("turn") is None


async def test_a_request_to_several_agents_is_a_debt_of_each(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asked = await alice.send(["bob", "carol"], "shall I?", kind="request")
    await bob.reply(asked.message_id, "yes", close=False)
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.ANSWERED
    assert (await world.ticket(asked.message_id, "carol")).state is TicketState.OPEN
    assert await waiting(carol) == ["shall I?"]


async def test_an_agent_that_is_named_twice_gets_one_copy(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send(["bob", "agent:bob:main", bob.session.id, "bob"], "hi")
    assert len(receipt.deliveries) == 1


async def test_a_response_goes_to_the_session_that_asked(world: World) -> None:
    first, second, bob = await world.join("alice", "alice", "bob")
    asked = await second.send("bob", "shall I?", kind="request")
    await bob.reply(asked.message_id, "yes")
    assert await waiting(second) == ["yes"]
    assert await waiting(first) == []


async def test_a_response_goes_to_the_oldest_live_session_if_the_askers_session_has_ended(world: World) -> None:
    first, second, third, bob = await world.join("alice", "alice", "alice", "bob")
    asked = await second.send("bob", "shall I?", kind="request")
    world.kill(second)
    await bob.reply(asked.message_id, "yes")
    assert await waiting(first) == ["yes"]
    assert await waiting(third) == []


async def test_one_session_is_reached_by_its_id_or_its_key(world: World) -> None:
    alice, _first, second = await world.join("alice", "bob", "bob")
    await alice.send(second.session.id, "by id")
    await alice.send(str(second.session.key), "by key")
    assert await waiting(second) == ["by id", "by key"]
    assert len(await world.services.inbox.peek(second.name)) == 2


async def test_a_broadcast_goes_to_each_live_session_except_the_senders_with_one_outcome_each(world: World) -> None:
    alice, bob, carol, dave = await world.join("alice", "bob", "carol", "dave")
    await world.process().join("erin", card={"allow_from": ["bob"]})
    full = await world.process().join("frank", inbox_limit=1)
    await bob.send("frank", "it fills frank's inbox")
    world.kill(carol)
    await dave.leave()
    receipt = await alice.send("*", "I began")
    assert {d.agent: d.state for d in receipt.deliveries} == {
        "bob": QUEUED,
        "erin": DeliveryState.REFUSED,
        "frank": DeliveryState.REFUSED,
    }
    assert all(d.reason for d in receipt.refused)
    assert await waiting(full) == ["it fills frank's inbox"]
    assert not any(d.is_parked for d in receipt.delivered)


async def test_a_broadcast_is_never_parked(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    receipt = await alice.send("*", "I began")
    assert receipt.deliveries == ()
    (again,) = await world.join("bob")
    assert await waiting(again) == []


async def test_a_broadcast_request_is_owed_by_each_recipient(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asked = await alice.send("*", "who has the lock?", kind="request", scope="build")
    assert {t.debtor for t in (await world.observer.gate("build")).owed} == {"bob", "carol"}
    await carol.reply(asked.message_id, "I do", close=True)
    assert {t.debtor for t in (await world.observer.gate("build")).owed} == {bob.name}


async def handed_over(world: World, alice: Member, to: str = "bob") -> MessageId:
    draft = Draft(Kind.TASK, (parse_address(to),), (TextPart("write the parser"),))
    return (await world.services.mail.send(draft, alice.identity, SendPolicy())).message_id


async def test_a_task_is_one_delivery_that_exactly_one_session_claims(world: World) -> None:
    alice, first, second = await world.join("alice", "bob", "bob")
    task = await handed_over(world, alice)
    delivery = await world.delivery(task)
    assert (delivery.state, delivery.is_parked) == (QUEUED, True)
    assert await waiting(first) == await waiting(second) == []
    claimed = await claim_next(world.services, second.identity)
    assert claimed is not None
    assert claimed.inbox == session_inbox(second.session.id)
    assert await claim_next(world.services, first.identity) is None
    assert (await claim_next(world.services, second.identity)) is not None
    assert len(await world.events(Action.TASK_CLAIMED)) == 1  # a repeated take is no second claim
    assert texts(await second.offer("turn")) == ["write the parser"]
    assert await first.offer("turn") is None


async def test_a_task_whose_session_dies_can_be_claimed_by_another(world: World) -> None:
    alice, first, second = await world.join("alice", "bob", "bob")
    task = await handed_over(world, alice)
    assert await claim_next(world.services, first.identity) is not None
    world.kill(first)
    await world.tend()
    assert (await world.delivery(task)).is_parked
    assert await claim_next(world.services, second.identity) is not None


async def test_a_session_that_is_dead_or_of_another_agent_claims_nothing(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    task = await handed_over(world, alice)
    assert await claim_next(world.services, carol.identity) is None
    world.kill(bob)
    await world.tend()
    with pytest.raises(SessionEnded):
        await claim_next(world.services, bob.identity)
    assert (await world.delivery(task)).is_parked


async def test_a_task_is_not_adopted_by_a_session_that_joins(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await bob.leave()
    task = await handed_over(world, alice)
    (heir,) = await world.join("bob")
    assert (await world.delivery(task)).is_parked
    assert await waiting(heir) == []
