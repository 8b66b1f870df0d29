"""Automatic names, and the numbers that messages have for their recipients."""

import pytest

from covey.core.errors import NumberUnknown
from tests.scenarios.world import World, read


@pytest.mark.requirement("broadcast.names")
async def test_sessions_without_a_name_get_names_in_alphabetical_order(world: World) -> None:
    names = [(await world.process().join()).name for _ in range(28)]
    assert names[:3] == ["agentA", "agentB", "agentC"]
    assert names[24:] == ["agentY", "agentZ", "agentAA", "agentAB"]


@pytest.mark.requirement("broadcast.names")
async def test_a_taken_name_is_skipped_and_none_is_given_twice(world: World) -> None:
    await world.join("agentB")
    first = await world.process().join()
    await first.leave()
    second = await world.process().join()
    assert (first.name, second.name) == ("agentA", "agentC")


@pytest.mark.requirement("broadcast.numbers")
async def test_messages_are_numbered_for_each_recipient_agent(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    for to in ("bob", "carol", "bob", ["bob", "carol"]):
        await alice.send(to, f"to {to}")
    await carol.send("bob", "from carol")
    assert [d.number for d in await bob.inbox.peek()] == [1, 2, 3, 4]
    assert [d.number for d in await carol.inbox.peek()] == [1, 2]


@pytest.mark.requirement("broadcast.numbers")
async def test_all_copies_for_one_agent_have_one_number(world: World) -> None:
    alice, bob, sibling = await world.join("alice", "bob", "bob")
    await alice.send("bob", "hi")
    assert [d.number for m in (bob, sibling) for d in await m.inbox.peek()] == [1, 1]
    await alice.send(sibling.session.id, "to one of them")
    assert [d.number for d in await sibling.inbox.peek()] == [1, 2]


@pytest.mark.requirement("broadcast.numbers")
async def test_a_number_is_never_reused(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "read")
    await read(bob)
    withdrawn = await alice.send("bob", "withdrawn")
    await alice.withdraw(withdrawn.message_id)
    await bob.leave()
    await alice.send("bob", "parked")
    (heir,) = await world.join("bob")
    await alice.send("bob", "fresh")
    assert [(d.text, d.number) for d in await heir.inbox.peek()] == [("parked", 3), ("fresh", 4)]


@pytest.mark.requirement("broadcast.numbers")
async def test_numbers_go_on_counting_after_a_restart(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await alice.send("bob", "before")
    await world.restart()
    sender, heir = await world.join("carol", "bob")
    await sender.send("bob", "after")
    assert [(d.text, d.number) for d in await heir.inbox.peek()] == [("before", 1), ("after", 2)]


@pytest.mark.requirement("broadcast.numbers")
async def test_a_number_names_its_message_while_it_waits_and_after_it_was_handled(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipts = [
        await alice.send("bob", "…", kind="request"),
        await alice.send("bob", "…"),
        await alice.send("bob", "…"),
    ]

    async def named(number: int) -> str:
        return (await world.services.dialogue.numbered(bob.name, number)).message_id

    numbers = (1, 2, 3)
    assert [await named(n) for n in numbers] == [receipt.message_id for receipt in receipts]
    await bob.reply(receipts[0].message_id, "yes")
    await bob.archive(receipts[0].message_id)
    await bob.dismiss(receipts[1].message_id)
    await read(bob)
    assert not await bob.inbox.peek()
    assert [await named(n) for n in numbers] == [receipt.message_id for receipt in receipts]
    await world.restart()
    assert [await named(n) for n in numbers] == [receipt.message_id for receipt in receipts]
    for nothing in (0, -1, 4, 10**15):
        with pytest.raises(NumberUnknown):
            await named(nothing)
    with pytest.raises(NumberUnknown):
        await world.services.dialogue.numbered(alice.name, 2)


@pytest.mark.requirement("broadcast.numbers")
async def test_an_evicted_message_has_no_number(world: World) -> None:
    (alice,) = await world.join("alice")
    bob = await world.process().join("bob", inbox_limit=1, inbox_overflow="evict-oldest")
    await alice.send("bob", "evicted")
    kept = await alice.send("bob", "kept")
    with pytest.raises(NumberUnknown):
        await world.services.dialogue.numbered(bob.name, 1)
    assert (await world.services.dialogue.numbered(bob.name, 2)).message_id == kept.message_id
