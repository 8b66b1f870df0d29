"""The operator in the Python API: pauses, limits and settings without a reach into the services."""

from typing import Any, cast

import pytest

import covey
from covey.core.errors import IdentityRefused, Invalid, OperatorOnly, RecipientUnknown
from tests.scenarios.world import World, waiting


async def operator_of(world: World, member: covey.Member) -> covey.Operator:
    return await world.observer.operator(await world.observer.create_token("operator", by=member))


async def test_the_operator_pauses_and_resumes_an_agent_or_the_space(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    operator = await operator_of(world, alice)
    await operator.pause("bob", "the tests are red")
    with pytest.raises(covey.Rejected, match="the tests are red"):
        await bob.send("alice", "hello")
    await operator.pause()
    with pytest.raises(covey.Rejected):
        await alice.send("bob", "hello")
    assert sorted(await operator.pauses()) == ["*", "bob"]
    assert await operator.resume()
    assert await operator.resume("bob")
    assert not await operator.resume("bob")
    await bob.send("alice", "hello")
    assert await waiting(alice) == ["hello"]


async def test_only_the_token_of_the_operator_makes_an_operator(world: World) -> None:
    (alice,) = await world.join("alice")
    with pytest.raises(OperatorOnly):
        await world.observer.operator(await world.observer.create_token("alice", by=alice))
    for wrong in ("", "covey_x", cast(str, None)):
        with pytest.raises((IdentityRefused, Invalid)):
            await world.observer.operator(wrong)


async def test_the_operator_changes_limits_and_rounds(world: World) -> None:
    (alice,) = await world.join("alice")
    operator = await operator_of(world, alice)
    changed = await operator.set_limits(messages=7, hours=1)
    assert (changed.messages, changed.hours, changed.depth) == (7, 1, covey.Limits().depth)
    assert await operator.limits() == changed
    await operator.set_rounds(3)
    assert await operator.rounds() == 3
    wrong: Any
    for wrong in ({"messages": 0}, {"messages": "7"}, {"mesages": 7}):
        with pytest.raises(Invalid):
            await operator.set_limits(**wrong)


async def test_a_stopped_tree_is_lifted_by_the_operator(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    operator = await operator_of(world, alice)
    await operator.set_limits(depth=1)
    first = await alice.send("bob", "one")
    second = await bob.send("alice", "two", in_reply_to=first.message_id)
    with pytest.raises(covey.Rejected):
        await alice.send("bob", "three", in_reply_to=second.message_id)
    assert (await world.observer.status()).stopped
    await operator.lift(first.message_id)
    assert not (await world.observer.status()).stopped


async def test_the_operator_closes_the_roster_and_has_refused_senders_told(world: World) -> None:
    alice, _ = await world.join("alice", "bob")
    operator = await operator_of(world, alice)
    await operator.close_roster()
    with pytest.raises(RecipientUnknown):
        await alice.send("carl", "hello", when_unknown="register")
    await operator.close_roster(False)
    assert await alice.send("carl", "hello", when_unknown="register")
    await world.observer.join("dora", card=covey.Card(allow_from=("bob",)))
    assert not await alice.send("dora", "hello")
    assert await waiting(alice) == []
    await operator.tell_unauthorized()
    await alice.send("dora", "hello")
    assert len(await waiting(alice)) == 1


async def test_the_status_shows_unread_mail_and_unanswered_questions(world: World) -> None:
    alice, _ = await world.join("alice", "bob")
    await alice.send("bob", "shall I?", kind="request")
    status = await world.observer.status()
    assert {agent.view.name: agent.unseen for agent in status.agents} == {"alice": 0, "bob": 1}
    assert [ticket.debtor for ticket in status.owed] == ["bob"]


async def test_a_member_adds_a_channel(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.observer.add_channel("ops", by=alice, about="the people in charge")
    await world.observer.add_channel("chat", by=alice, url="https://chat.example/hook", style="slack", secret="s" * 32)
    cards = {str(view.name): view.card for view in await world.observer.agents()}
    assert (cards["ops"].channel, cards["chat"].channel) == (True, True)
    assert cards["ops"].description == "the people in charge"
    with pytest.raises(Invalid):
        await world.observer.add_channel("chat", by=alice, url="ftp://chat.example")
    with pytest.raises(Invalid):
        await world.observer.add_channel("chat", by=alice, url="https://chat.example", style=cast(Any, "irc"))
