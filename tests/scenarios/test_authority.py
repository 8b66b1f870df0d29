"""Authority: the operations on a message that each party is allowed."""

import pytest

from covey.core.errors import IllegalMove, NotYours
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.ticket import TicketState
from covey.core.names import parse_message_id
from covey.services.mail.recipients import SendPolicy
from tests.scenarios.world import World, read, show, waiting

pytestmark = pytest.mark.requirement("ledger.authority")


async def respond(world: World, who: Identity, message_id: str, text: str) -> None:
    draft = Draft(Kind.RESPONSE, (), (TextPart(text),), in_reply_to=parse_message_id(message_id))
    await world.services.mail.send(draft, who, SendPolicy())


async def test_a_strangers_response_is_in_the_thread_and_settles_nothing(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    await carol.reply(asked.message_id, "I would", close=False)
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.OPEN
    assert (await world.delivery(asked.message_id)).state is DeliveryState.QUEUED
    assert not (await world.observer.gate("build")).passed
    assert [m.text for m in await world.observer.thread(asked.message_id)] == ["shall I?", "I would"]
    assert await waiting(alice) == ["I would"]
    await bob.reply(asked.message_id, "yes", close=False)
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.ANSWERED


async def test_the_asker_cannot_answer_its_own_question(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    await alice.reply(asked.message_id, "yes, I shall")
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.OPEN


async def test_only_the_recipient_archives_or_dismisses(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    receipt = await alice.send("bob", "it is done")
    before = await world.snapshot()
    for stranger in (alice, carol):
        with pytest.raises(NotYours):
            await stranger.archive(receipt.message_id)
        with pytest.raises(NotYours):
            await stranger.dismiss(receipt.message_id)
        with pytest.raises(NotYours):
            await stranger.handle(receipt.message_id)
    assert await world.snapshot() == before
    await bob.dismiss(receipt.message_id)
    await bob.archive(receipt.message_id)


async def test_any_session_of_the_recipient_may_answer_and_archive(world: World) -> None:
    alice, bob, sibling = await world.join("alice", "bob", "bob")
    asked = await alice.send(bob.session.id, "shall I?", kind="request")
    await sibling.reply(asked.message_id, "yes")
    await sibling.archive(asked.message_id)
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.CLOSED


async def test_the_operator_answers_archives_dismisses_and_withdraws(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    operator = await world.operator()
    asked = await alice.send("bob", "shall I?", kind="request")
    await respond(world, operator, asked.message_id, "yes, says the operator")
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.ANSWERED
    assert (await world.delivery(asked.message_id)).state is DeliveryState.HANDLED
    await world.services.dialogue.archive(asked.message_id, operator, recipient=_bob.name)
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.CLOSED
    told = await alice.send("bob", "it is done")
    await world.services.mail.settle(told.message_id, operator, "dismissed")
    assert (await world.delivery(told.message_id)).state is DeliveryState.HANDLED
    more = await alice.send("bob", "never mind")
    await world.services.mail.withdraw(more.message_id, operator)
    assert (await world.delivery(more.message_id)).state is DeliveryState.WITHDRAWN


async def test_an_operator_that_is_only_claimed_has_no_authority(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    forged = Identity((await world.operator()).agent)
    assert not forged.is_operator
    await respond(world, forged, asked.message_id, "yes")
    assert (await world.ticket(asked.message_id, "bob")).state is TicketState.OPEN
    with pytest.raises(NotYours):
        await world.services.dialogue.archive(asked.message_id, forged, recipient=bob.name)
    with pytest.raises(NotYours):
        await world.services.mail.withdraw(asked.message_id, forged)


async def test_only_the_sender_withdraws(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    receipt = await alice.send("bob", "never mind")
    for stranger in (bob, carol):
        with pytest.raises(NotYours):
            await stranger.withdraw(receipt.message_id)
    await alice.withdraw(receipt.message_id)
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.WITHDRAWN
    assert await waiting(bob) == []


async def test_another_session_of_the_sender_may_withdraw(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "never mind")
    await alice.leave()
    (heir,) = await world.join("alice")
    await heir.withdraw(receipt.message_id)
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.WITHDRAWN


@pytest.mark.parametrize("step", ["offered", "in_context", "handled", "withdrawn"])
async def test_a_message_that_was_shown_or_has_ended_cannot_be_withdrawn(world: World, step: str) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "never mind", kind="request")
    if step == "offered":
        await show(bob)
    elif step == "in_context":
        await read(bob)
    elif step == "handled":
        await bob.reply(receipt.message_id, "too late")
    else:
        await alice.withdraw(receipt.message_id)
    before = await world.position()
    with pytest.raises(IllegalMove):
        await alice.withdraw(receipt.message_id)
    assert await world.position() == before


async def test_a_message_that_one_session_was_shown_is_withdrawn_from_the_others(world: World) -> None:
    alice, bob, _sibling = await world.join("alice", "bob", "bob")
    receipt = await alice.send("bob", "never mind", kind="request")
    await show(bob)
    await alice.withdraw(receipt.message_id)
    states = [d.state for d in await world.deliveries(receipt.message_id)]
    assert states == [DeliveryState.OFFERED, DeliveryState.WITHDRAWN]
    assert (await world.ticket(receipt.message_id, "bob")).state is TicketState.OPEN


async def test_a_stranger_cannot_give_evidence(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    receipt = await alice.send("bob", "it is done")
    showing = await show(bob)
    with pytest.raises(NotYours):
        await world.services.offers.confirm(showing.offer.id, carol.identity, EvidenceGrade.WITNESSED, "…")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.OFFERED
