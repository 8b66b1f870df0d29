"""Pauses: a paused agent or space receives and sends nothing until the operator resumes it. No mail is lost."""

import asyncio

import pytest

from covey.core.directory.routing import WHOLE
from covey.core.errors import OperatorOnly, Paused, RecipientUnknown
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName
from covey.services.mail.recipients import SendPolicy
from tests.scenarios.world import LIMIT_S, World, read, soon, texts, waiting

BOB = AgentName("bob")


async def send_as(world: World, actor: Identity, to: str, text: str) -> None:
    draft = Draft(Kind.NOTIFY, (parse_address(to),), (TextPart(text),))
    await world.services.mail.send(draft, actor, SendPolicy())


async def test_mail_for_a_paused_agent_waits_and_is_shown_after_the_pause(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    operator = await world.operator()
    await world.services.pauses.pause(BOB, operator, "it repeats itself")
    receipt = await alice.send("bob", "are you there?")
    assert [str(delivery.state) for delivery in receipt.deliveries] == ["queued"]
    assert await bob.offer("turn") is None
    assert (await bob.pending()).letters == ()
    async with bob.turn() as turn:
        assert turn.pending.letters == ()
    assert await bob.inbox.next(timeout=0) is None
    assert await waiting(bob) == ["are you there?"]  # a peek shows the message
    assert await world.services.pauses.resume(BOB, operator)
    assert texts(await read(bob)) == ["are you there?"]


async def test_a_message_of_a_paused_agent_is_refused_with_the_origin_of_the_pause_and_how_to_resume(
    world: World,
) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.ask("bob", "which?", timeout=0)
    operator = await world.operator()
    await world.services.pauses.pause(BOB, operator, "it repeats itself")
    position = await world.position()
    for attempt in (
        bob.send("alice", "hi"),
        bob.reply(asked.ticket.message_id, "this one"),
        bob.ask("alice", "?", timeout=0),
        bob.delegate("alice", "do it"),
    ):
        with pytest.raises(Paused) as caught:
            await attempt
        assert caught.value.details == {
            "agent": "bob",
            "is_space": False,
            "by": "operator",
            "reason": "it repeats itself",
            "resume_with": "covey resume bob",
        }
    assert await world.position() == position
    await send_as(world, operator, "bob", "take a break")
    await alice.send("bob", "others go on")


async def test_a_paused_agent_takes_no_task_but_may_finish_those_it_holds(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.delegate("bob", "one")
    second = await alice.delegate("bob", "two")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    await world.services.pauses.pause(BOB, await world.operator())
    assert await bob.take(timeout=0) is None
    with pytest.raises(Paused):
        await world.services.duties.accept(second.id, bob.identity)
    assert await bob.offer("turn") is None
    await work.progress("nearly")
    await work.complete("done")
    result = await first.result(timeout=0)
    assert result is not None
    assert result.text == "done"
    await world.services.pauses.resume(BOB, await world.operator())
    assert await bob.take(timeout=0) is not None


async def test_a_paused_agent_can_send_messages_that_finish_something(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.ask("bob", "which?", timeout=0)
    await world.services.pauses.pause(BOB, await world.operator())
    draft = Draft(Kind.RESPONSE, (), (TextPart("main"),), in_reply_to=asked.ticket.message_id)
    with pytest.raises(Paused):
        await world.services.mail.send(draft, bob.identity, SendPolicy())
    await world.services.mail.send(draft, bob.identity, SendPolicy(finishes=True))
    assert (await alice.resume(asked.ticket.id, timeout=0)).text == "main"


async def test_the_operator_can_use_a_paused_space_and_an_agents_own_pause_outlasts_that_of_the_space(
    world: World,
) -> None:
    alice, bob = await world.join("alice", "bob")
    pauses, operator = world.services.pauses, await world.operator()
    await pauses.pause(None, operator, "lunch")
    await pauses.pause(BOB, operator)
    for sender, to in ((alice, "bob"), (bob, "alice")):
        with pytest.raises(Paused):
            await sender.send(to, "hi")
    with pytest.raises(Paused) as caught:
        await alice.send("bob", "hi")
    assert (caught.value.details["is_space"], caught.value.details["resume_with"]) == (True, "covey resume")
    (late,) = await world.join("carol")
    with pytest.raises(Paused):
        await late.send("alice", "I have just come")
    await send_as(world, operator, "alice", "back soon")
    assert await alice.offer("turn") is None
    views = {view.name: view.pause for view in await world.services.directory.agents()}
    assert {name for name, pause in views.items() if pause is not None} >= {"alice", "bob", "carol"}
    assert set(await pauses.all()) == {WHOLE, BOB}
    assert await pauses.resume(None, operator)
    await alice.send("bob", "hi")
    assert texts(await read(alice)) == ["back soon"]
    with pytest.raises(Paused):
        await bob.send("alice", "hi")
    assert (await world.services.directory.agent(BOB)).pause is not None
    assert await pauses.resume(BOB, operator)
    assert not await pauses.resume(BOB, operator)
    assert not await pauses.all()
    assert len(await world.events(Action.PAUSE_BEGUN)) == len(await world.events(Action.PAUSE_ENDED)) == 2


async def test_only_the_operator_pauses_and_only_known_agents_can_be_paused(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    for actor in (alice.identity, world.services.identities.claim(AgentName("owner"))):
        with pytest.raises(OperatorOnly):
            await world.services.pauses.pause(BOB, actor)
        with pytest.raises(OperatorOnly):
            await world.services.pauses.resume(None, actor)
    with pytest.raises(RecipientUnknown):
        await world.services.pauses.pause(AgentName("bobby"), await world.operator())


async def test_a_wait_for_mail_is_woken_when_the_agent_is_resumed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    operator = await world.operator()
    await world.services.pauses.pause(BOB, operator)
    await alice.send("bob", "hi")
    async with asyncio.TaskGroup() as group:
        hearing = group.create_task(soon(bob.inbox.next(timeout=LIMIT_S)))
        await asyncio.sleep(0)
        await world.services.pauses.resume(BOB, operator)
    delivery = hearing.result()
    assert delivery is not None
    assert delivery.text == "hi"


async def test_messages_of_people_on_a_channel_arrive_while_the_space_is_paused(world: World) -> None:
    from covey.core.channels.channel import console
    from covey.services.channels.channels import PersonMessage

    (alice,) = await world.join("alice")
    channels, operator = world.services.channels, await world.operator()
    await channels.add(console(AgentName("ops")), operator)
    await channels.bind(AgentName("ops"), "c-1", parse_address("alice"), operator)
    await world.services.pauses.pause(None, operator)
    await channels.hear(PersonMessage(AgentName("ops"), "c-1", "what is going on?"))
    assert await waiting(alice) == ["what is going on?"]
