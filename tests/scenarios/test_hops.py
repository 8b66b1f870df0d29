"""Hops and traces: relayed messages stop in time, and never go round in circles."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from covey.core.errors import HopsExhausted
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.names import MessageId, parse_message_id
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from covey.surfaces.python.messages import Receipt
from tests.scenarios.world import World, waiting


async def relayed(world: World, *members: Member) -> Sequence[Message]:
    """Let the first member send to the second, which relays to the third, and so on. Return every message."""
    messages: list[Message] = []
    for who, to in pairwise(members):
        if messages:
            receipt = await who.send(to.name, "please do it", relaying=messages[-1].id)
        else:
            receipt = await who.send(to.name, "please do it")
        assert not receipt.refused
        messages.append(await world.services.mail.message(receipt.message_id))
    return messages


def refusal(receipt: Receipt) -> str:
    (delivery,) = receipt.deliveries
    assert delivery.state is DeliveryState.REFUSED
    assert delivery.reason is not None
    return delivery.reason.partition(":")[0]


async def update(world: World, who: Member, about: MessageId, text: str) -> MessageId:
    draft = Draft(Kind.UPDATE, (), (TextPart(text),), in_reply_to=about)
    receipt = await world.services.mail.send(draft, who.identity, SendPolicy())
    assert not receipt.refused
    return receipt.message_id


@pytest.mark.requirement("mailbox.ttl")
async def test_the_first_send_counts_and_the_fourth_agent_may_answer_but_not_delegate(world: World) -> None:
    a, b, c, d, e = await world.join("a", "b", "c", "d", "e")
    messages = await relayed(world, a, b, c, d)
    assert [m.hops_left for m in messages] == [2, 1, 0]
    assert [m.trace for m in messages] == [("a",), ("a", "b"), ("a", "b", "c")]
    before = await world.position()
    with pytest.raises(HopsExhausted) as caught:
        await d.send("e", "please do it", relaying=messages[-1].id)
    assert caught.value.code == "hops-exhausted"
    assert await world.position() == before
    await d.reply(messages[-1].id, "done")
    assert await waiting(c) == ["please do it", "done"]
    assert await waiting(e) == []


@pytest.mark.requirement("mailbox.trace")
async def test_an_endless_chain_stops(world: World) -> None:
    members = await world.join(*(f"agent-{n}" for n in range(6)))
    with pytest.raises(HopsExhausted):
        await relayed(world, *members)
    assert [await waiting(m) != [] for m in members] == [False, True, True, True, False, False]


@pytest.mark.requirement("mailbox.trace")
async def test_a_relay_back_to_the_sender_is_refused(world: World) -> None:
    a, b = await world.join("a", "b")
    (message,) = await relayed(world, a, b)
    assert refusal(await b.send("a", "no, you do it", relaying=message.id)) == "circular-route"
    assert await waiting(a) == []


@pytest.mark.requirement("mailbox.trace")
async def test_a_circle_of_three_is_refused(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    messages = await relayed(world, a, b, c)
    for to in ("a", "b"):
        assert refusal(await c.send(to, "no, you do it", relaying=messages[-1].id)) == "circular-route"
    receipt = await c.send("*", "who does it?", relaying=messages[-1].id)
    assert {d.agent: d.state for d in receipt.deliveries} == {"a": DeliveryState.REFUSED, "b": DeliveryState.REFUSED}


@pytest.mark.requirement("mailbox.trace")
async def test_a_relayed_request_that_would_close_a_circle_is_refused_and_not_owed(world: World) -> None:
    a, b = await world.join("a", "b")
    (message,) = await relayed(world, a, b)
    receipt = await b.send("a", "no, you do it", kind="request", scope="build", relaying=message.id)
    assert refusal(receipt) == "circular-route"
    assert (await world.observer.gate("build")).passed


@pytest.mark.requirement("mailbox.trace", "mailbox.ttl")
async def test_a_reply_or_update_to_the_sender_keeps_hops_and_trace_and_always_passes(world: World) -> None:
    a, b, c, d = await world.join("a", "b", "c", "d")
    messages = await relayed(world, a, b, c, d)
    last = messages[-1]
    told = await update(world, d, last.id, "working")
    answered = (await d.reply(last.id, "done")).message_id
    thanked = (await c.reply(answered, "thanks")).message_id
    welcome = (await d.reply(thanked, "you're welcome")).message_id
    for message_id in (told, answered, thanked, welcome):
        message = await world.services.mail.message(message_id)
        assert (message.hops_left, message.trace) == (last.hops_left, last.trace)
        assert (await world.delivery(message_id)).has_arrived


@pytest.mark.requirement("mailbox.trace")
async def test_a_reply_to_a_remark_from_an_earlier_agent_on_the_path_passes_too(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    (_first, second) = await relayed(world, a, b, c)
    remark = await a.reply(second.id, "good that you passed it on")
    answer = await b.reply(remark.message_id, "glad to")
    assert [d.state for d in answer.deliveries] == [DeliveryState.QUEUED]
    assert await waiting(a) == ["glad to"]


@pytest.mark.requirement("mailbox.trace")
async def test_results_return_along_the_path(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    asked = await a.send("b", "please do it", kind="request")
    passed = await b.send("c", "please do it", kind="request", relaying=asked.message_id)
    await c.reply(passed.message_id, "done")
    await b.reply(asked.message_id, "c says: done")
    assert await waiting(a) == ["c says: done"]
    root = {(await world.services.mail.message(parse_message_id(r.message_id))).root for r in (asked, passed)}
    assert root == {asked.message_id}
