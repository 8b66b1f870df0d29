"""Allow rules: the senders that an agent accepts, and the recipients that it may send to."""

import pytest

from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import MessageId
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from covey.surfaces.python.messages import Receipt
from tests.scenarios.world import World, waiting

pytestmark = pytest.mark.requirement("mailbox.allow")


async def update(world: World, who: Member, about: MessageId) -> list[DeliveryState]:
    draft = Draft(Kind.UPDATE, (), (TextPart("half done"),), in_reply_to=about)
    return [d.state for d in (await world.services.mail.send(draft, who.identity, SendPolicy())).deliveries]


def refusal(receipt: Receipt) -> str:
    (delivery,) = receipt.deliveries
    assert delivery.state is DeliveryState.REFUSED
    return delivery.reason or ""


async def test_a_sender_outside_allow_from_is_not_delivered_and_its_receipt_says_so(world: World) -> None:
    alice, carol = await world.join("alice", "carol")
    bob = await world.process().join("bob", card={"allow_from": ["carol"]})
    reason = refusal(await alice.send("bob", "hi"))
    assert reason == "not-allowed: bob takes no mail from alice (allow_from)"
    assert not (await carol.send("bob", "hi")).refused
    assert await waiting(bob) == ["hi"]
    assert await waiting(alice) == []  # the receipt reports it, and no mail does


async def test_if_switched_on_a_refused_sender_gets_a_rejection_in_its_inbox(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.process().join("bob", card={"allow_from": ["carol"]})
    operator = await world.operator()
    await world.services.policies.tell_unauthorized(operator)
    receipt = await alice.send("bob", "hi")
    refusal(receipt)
    (notice,) = await alice.inbox.peek()
    assert notice.message.kind is Kind.UPDATE
    assert notice.message.in_reply_to == receipt.message_id
    assert str(notice.sender) == "covey (space)"
    assert notice.text == "Your message to bob was rejected: unauthorized."
    await world.services.policies.tell_unauthorized(operator, told=False)
    refusal(await alice.send("bob", "hi again"))
    assert len(await alice.inbox.peek()) == 1


async def test_the_operator_passes_the_allow_rules(world: World) -> None:
    bob = await world.process().join("bob", card={"allow_from": ["carol"]})
    draft = Draft(Kind.NOTIFY, (parse_address("bob"),), (TextPart("stop"),))
    receipt = await world.services.mail.send(draft, await world.operator(), SendPolicy())
    assert not receipt.refused
    assert await waiting(bob) == ["stop"]


async def test_a_sender_may_send_only_to_its_allowed_delegates(world: World) -> None:
    alice = await world.process().join("alice", card={"allowed_delegates": ["carol"]})
    bob, carol = await world.join("bob", "carol")
    receipt = await alice.send(["bob", "carol"], "hi")
    assert {d.agent: d.state for d in receipt.deliveries} == {
        "bob": DeliveryState.REFUSED,
        "carol": DeliveryState.QUEUED,
    }
    assert receipt.refused[0].reason == "not-allowed: alice may not send to bob (allowed_delegates)"
    assert (await waiting(bob), await waiting(carol)) == ([], ["hi"])


async def test_a_star_allows_every_agent_and_an_empty_list_none(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.process().join("open", card={"allow_from": ["*"]})
    await world.process().join("shut", card={"allow_from": []})
    assert not (await alice.send("open", "hi")).refused
    assert refusal(await alice.send("shut", "hi")).startswith("not-allowed")


async def test_the_rules_hold_for_parked_mail_and_for_sessions_too(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", card={"allow_from": ["carol"]})
    assert refusal(await alice.send(bob.session.id, "hi")).startswith("not-allowed")
    assert refusal(await alice.send(str(bob.session.key), "hi")).startswith("not-allowed")
    await bob.leave()
    assert refusal(await alice.send("bob", "hi")).startswith("not-allowed")


async def test_the_answer_to_an_agents_own_open_question_passes_the_allow_rules(world: World) -> None:
    alice = await world.process().join("alice", card={"allow_from": []})
    bob = await world.process().join("bob", card={"allowed_delegates": []})
    asked = await alice.send("bob", "shall I?", kind="request")
    assert not (await bob.reply(asked.message_id, "yes")).refused
    assert await waiting(alice) == ["yes"]
    await bob.archive(asked.message_id)
    assert refusal(await bob.reply(asked.message_id, "and another thing")).startswith("not-allowed")


async def test_a_strangers_response_does_not_pass_as_an_answer(world: World) -> None:
    alice = await world.process().join("alice", card={"allow_from": []})
    _bob, carol = await world.join("bob", "carol")
    asked = await alice.send("bob", "shall I?", kind="request")
    assert refusal(await carol.reply(asked.message_id, "buy my product")).startswith("not-allowed")


async def test_an_update_passes_the_allow_rules_only_from_the_agent_that_was_asked(world: World) -> None:
    alice = await world.process().join("alice", card={"allow_from": []})
    bob, carol = await world.join("bob", "carol")
    asked = await alice.send("bob", "please do it", kind="request")
    assert await update(world, bob, asked.message_id) == [DeliveryState.QUEUED]
    assert await update(world, carol, asked.message_id) == [DeliveryState.REFUSED]


async def test_an_update_of_an_agents_own_task_passes_the_allow_rules(world: World) -> None:
    alice = await world.process().join("alice", card={"allow_from": []})
    bob, carol = await world.join("bob", "carol")
    draft = Draft(Kind.TASK, (parse_address(bob.name),), (TextPart("write the parser"),))
    task = await world.services.mail.send(draft, alice.identity, SendPolicy())
    assert await update(world, bob, task.message_id) == [DeliveryState.QUEUED]
    assert await update(world, carol, task.message_id) == [DeliveryState.REFUSED]


async def test_an_update_on_a_notify_does_not_pass_the_allow_rules(world: World) -> None:
    alice = await world.process().join("alice", card={"allow_from": []})
    (bob,) = await world.join("bob")
    told = await alice.send("bob", "it is done")
    assert await update(world, bob, told.message_id) == [DeliveryState.REFUSED]


async def test_a_changed_card_applies_to_later_messages(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert not (await alice.send("bob", "hi")).refused
    await world.process().join("bob", card={"allow_from": []})
    assert await waiting(bob) == ["hi"]
    assert {d.state for d in (await alice.send("bob", "hi")).deliveries} == {DeliveryState.REFUSED}
