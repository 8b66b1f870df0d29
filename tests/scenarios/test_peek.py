"""Reading: looking at an inbox, a thread or a receipt never changes it."""

from datetime import timedelta

import pytest

from covey.core.names import parse_scope, parse_subject, ticket_id
from covey.ports.ledger import MessageFilter
from covey.services.mail.inbox import InboxFilter
from tests.scenarios.world import World, show, soon

pytestmark = pytest.mark.requirement("ledger.peek")


async def test_looking_changes_nothing(world: World) -> None:
    alice, bob, carol, dead = await world.join("alice", "bob", "carol", "dave")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", subject="merge")
    answer = await bob.reply(asked.message_id, "yes")
    told = await alice.send(["bob", "carol", "dave"], "it is done", scope="build", subject="progress")
    await alice.send("bob", "soon stale", kind="request", expires_in=timedelta(minutes=1))
    await show(carol)
    world.pass_time(minutes=20)  # offers have lapsed and mail has expired, and no process has recorded it
    world.kill(dead)
    before = await world.snapshot()

    for member in (alice, bob, carol):
        await member.inbox.peek()
        await member.inbox.peek(InboxFilter(scope=parse_scope("build")))
        assert await member.inbox.next(timeout=0) is not None
        await member.owed()
    services = world.services
    await services.inbox.peek(bob.name)
    await services.inbox.peek(dead.name)
    await services.mail.message(asked.message_id)
    await services.dialogue.find(MessageFilter(subject=parse_subject("merge")))
    await services.dialogue.owed_to(alice.name)
    await services.dialogue.ticket(ticket_id(asked.message_id, bob.name))
    await services.directory.session(bob.session.id)
    await services.identities.tokens()
    space = world.observer
    await space.agents()
    await space.agent("dave")
    await space.gate("build")
    await space.thread(answer.message_id)
    await space.search("merge")
    assert tuple([event async for event in space.journal()]) == before.events
    for receipt in (asked, answer, told):
        await receipt.refresh()
        await space.receipt(receipt.message_id)
        assert not await receipt.until("in_context", timeout=0)

    assert await world.snapshot() == before


async def test_reading_an_inbox_does_not_consume_it(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi")
    first = await bob.inbox.next(timeout=0)
    assert first is not None
    again = await bob.inbox.peek()
    assert [d.record for d in again] == [first.record]


async def test_an_inbox_is_filtered_by_scope_kind_and_time(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "1", scope="build")
    await alice.send("bob", "2", kind="request", scope="build")
    world.pass_time(minutes=5)
    later = world.clock.now()
    world.pass_time(seconds=1)
    await alice.send("bob", "3", kind="request", scope="tests")

    async def found(wanted: InboxFilter) -> list[str]:
        return [d.text for d in await bob.inbox.peek(wanted)]

    (request,) = {d.message.kind for d in await bob.inbox.peek(InboxFilter(since=later))}
    assert await found(InboxFilter(scope=parse_scope("build"))) == ["1", "2"]
    assert await found(InboxFilter(kind=request)) == ["2", "3"]
    assert await found(InboxFilter(since=later)) == ["3"]
    assert await found(InboxFilter(scope=parse_scope("build"), kind=request)) == ["2"]


async def test_a_filtered_peek_finds_a_message_far_behind_others(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(1_001):
        await alice.send("bob", str(n), scope="noise")
    await alice.send("bob", "the needle", scope="build")
    found = await soon(bob.inbox.peek(InboxFilter(scope=parse_scope("build"))))
    assert [d.text for d in found] == ["the needle"]
