"""Tickets: the debts of answers between agents, and their ends."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from covey.core.errors import IllegalMove, NotYours
from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.ticket import TicketMove, TicketState, TicketTrouble
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.world import World, ask_back, read, waiting

pytestmark = pytest.mark.requirement("ledger.tickets")

OPEN, ANSWERED, CLOSED = TicketState.OPEN, TicketState.ANSWERED, TicketState.CLOSED


async def test_a_response_answers_a_ticket_and_archiving_closes_it(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", subject="merge")
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.asker, ticket.debtor) == (OPEN, "alice", "bob")
    assert (ticket.scope, ticket.subject) == ("build", "merge")
    answer = await bob.reply(asked.message_id, "yes", close=False)
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.answer) == (ANSWERED, answer.message_id)
    await bob.archive(asked.message_id)
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.close_reason) == (CLOSED, TicketMove.ARCHIVE)
    moves = await world.events(Action.TICKET_MOVED)
    assert [(e.details["move"], e.actor.agent) for e in moves] == [("answer", "bob"), ("archive", "bob")]


async def test_a_response_that_does_not_go_to_the_asker_answers_nothing(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    aside = Draft(Kind.RESPONSE, (parse_address("carol"),), (TextPart("she asks"),), in_reply_to=asked.message_id)
    await world.services.mail.send(aside, bob.identity, SendPolicy())
    assert (await world.ticket(asked.message_id, "bob")).state is OPEN
    assert (await waiting(bob), await waiting(carol)) == (["shall I?"], ["she asks"])
    await bob.reply(asked.message_id, "yes", close=False)
    assert (await world.ticket(asked.message_id, "bob")).state is ANSWERED


async def test_a_reply_that_does_not_close_leaves_the_ticket_to_be_archived(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    await bob.reply(asked.message_id, "yes", close=False)
    await bob.reply(asked.message_id, "on second thoughts, no", close=False)
    assert (await world.ticket(asked.message_id, "bob")).state is ANSWERED


async def test_a_reply_that_closes_answers_and_closes_in_one_step(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    answer = await bob.reply(asked.message_id, "yes", close=True)
    ticket = await world.ticket(asked.message_id, "bob")
    assert (ticket.state, ticket.answer) == (CLOSED, answer.message_id)
    assert (await world.observer.gate("build")).passed


async def test_the_first_answer_counts_and_a_second_is_only_in_the_thread(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    first = await bob.reply(asked.message_id, "yes")
    await bob.reply(asked.message_id, "no")
    assert (await world.ticket(asked.message_id, "bob")).answer == first.message_id
    assert await waiting(alice) == ["yes", "no"]


async def test_a_late_answer_arrives_once_and_does_not_reopen_the_ticket(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    ticket = await world.ticket(asked.message_id, "bob")
    await alice.waive(ticket.id)
    closed = await world.ticket(asked.message_id, "bob")
    assert (closed.state, closed.close_reason) == (CLOSED, TicketMove.WAIVE)
    answer = await bob.reply(asked.message_id, "yes")
    assert await world.ticket(asked.message_id, "bob") == closed
    assert await waiting(alice) == ["yes"]
    assert (await world.observer.gate("build")).passed
    thread = await world.observer.thread(asked.message_id)
    assert [message.id for message in thread] == [asked.message_id, answer.message_id]
    await read(alice)
    assert await alice.offer("turn-2") is None


async def expired(world: World, alice: Member, bob: Member) -> str:
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", expires_in=timedelta(minutes=5))
    world.pass_time(minutes=5)
    await world.tend()
    return asked.message_id


async def undeliverable(world: World, alice: Member, bob: Member) -> str:
    world.kill(bob)
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", when_offline="refuse")
    return asked.message_id


async def evicted(world: World, alice: Member, bob: Member) -> str:
    await bob.leave()
    await world.process().join("bob", inbox_limit=1, inbox_overflow="first-in-first-out")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    await alice.send("bob", "fresh news")
    return asked.message_id


TROUBLES = pytest.mark.parametrize(
    ("make", "trouble"),
    [(expired, TicketTrouble.EXPIRED), (undeliverable, TicketTrouble.UNDELIVERABLE), (evicted, TicketTrouble.EVICTED)],
)
Make = Callable[[World, Member, Member], Awaitable[str]]


@TROUBLES
@pytest.mark.parametrize("way", [TicketMove.ARCHIVE, TicketMove.WAIVE, TicketMove.FORCE])
async def test_a_debt_in_trouble_stays_owed_with_its_reason_until_archived_waived_or_forced(
    world: World, make: Make, trouble: TicketTrouble, way: TicketMove
) -> None:
    alice, bob = await world.join("alice", "bob")
    message_id = await make(world, alice, bob)
    ticket = await world.ticket(message_id, "bob")
    assert (ticket.state, ticket.trouble) == (OPEN, trouble)
    verdict = await world.observer.gate("build")
    assert [(t.id, t.trouble) for t in verdict.owed] == [(ticket.id, trouble)]
    assert not verdict.passed
    if way is TicketMove.ARCHIVE:
        await world.services.dialogue.archive(ticket.message_id, bob.identity)
    elif way is TicketMove.WAIVE:
        await alice.waive(ticket.id)
    else:
        await alice.gate("build", force_because="it does not matter any more")
    ticket = await world.ticket(message_id, "bob")
    assert (ticket.state, ticket.close_reason, ticket.trouble) == (CLOSED, way, trouble)
    assert (await world.observer.gate("build")).passed


@TROUBLES
async def test_a_debt_in_trouble_can_still_be_answered(world: World, make: Make, trouble: TicketTrouble) -> None:
    alice, bob = await world.join("alice", "bob")
    message_id = await make(world, alice, bob)
    (heir,) = await world.join("bob")
    await heir.reply(message_id, "yes, late", close=False)
    ticket = await world.ticket(message_id, "bob")
    assert (ticket.state, ticket.trouble) == (ANSWERED, trouble)
    assert (await waiting(alice))[-1] == "yes, late"


@pytest.mark.parametrize(("make", "trouble"), [(expired, TicketTrouble.EXPIRED), (evicted, TicketTrouble.EVICTED)])
async def test_the_asker_is_notified_of_trouble_once(world: World, make: Make, trouble: TicketTrouble) -> None:
    alice, bob = await world.join("alice", "bob")
    message_id = await make(world, alice, bob)
    await world.tend()
    (notice,) = await alice.inbox.peek()
    assert (notice.message.kind, str(notice.sender)) == (Kind.UPDATE, "covey (space)")
    assert (notice.message.in_reply_to, notice.message.thread) == (message_id, message_id)
    assert str(trouble) in notice.text


async def test_a_question_back_moves_the_debt_to_the_other_side_and_the_gate_counts_both(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", subject="merge")
    back = await ask_back(world, bob, asked.message_id, "into which branch?")
    first, second = await world.ticket(asked.message_id, "bob"), await world.ticket(back, "alice")
    assert (first.state, first.awaits) == (OPEN, second.id)
    assert [t.id for t in await alice.owed()] == [second.id]
    assert [t.id for t in (await world.observer.gate("build")).owed] == [first.id, second.id]
    await alice.reply(back, "main", close=False)
    assert (await world.ticket(asked.message_id, "bob")).awaits is None  # the debt is back with the debtor
    await bob.reply(asked.message_id, "yes", close=False)
    assert len((await world.observer.gate("build")).answered) == 2
    await alice.archive(back)
    await bob.archive(asked.message_id)
    assert (await world.observer.gate("build")).passed
    assert [m.text for m in await world.observer.thread(back)] == ["shall I?", "into which branch?", "main", "yes"]


async def test_only_the_asker_can_waive_a_ticket_and_only_once(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    asked = await alice.send("bob", "shall I?", kind="request")
    ticket = await world.ticket(asked.message_id, "bob")
    for stranger in (bob, carol):
        with pytest.raises(NotYours):
            await stranger.waive(ticket.id)
    await alice.waive(ticket.id)
    with pytest.raises(IllegalMove):
        await alice.waive(ticket.id)


async def test_a_withdrawn_request_is_not_owed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    full = await world.process().join("bob", inbox_limit=1)
    await alice.send(full.session.id, "it fills the second session's inbox")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    assert {d.state for d in asked.deliveries} == {DeliveryState.QUEUED, DeliveryState.REFUSED}
    await alice.withdraw(asked.message_id)
    assert (await world.ticket(asked.message_id, "bob")).close_reason is TicketMove.WITHDRAW
    assert not await bob.owed()
