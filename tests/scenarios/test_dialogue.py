"""Dialogue: ids, kinds, subjects, recipients, the archive and threads."""

import re
from datetime import timedelta

import pytest

from covey.core.errors import AlreadyArchived, Invalid, KindRule, NotAnswered, RecipientUnknown
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.names import parse_message_id, parse_scope, parse_subject
from covey.ports.ledger import MessageFilter
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.world import World, ask_back, waiting

ID = re.compile(r"\d{13}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.mark.requirement("dialogue.id")
async def test_a_message_id_is_milliseconds_and_a_uuid_and_sorts_by_time(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    ids: list[str] = []
    for _ in range(20):
        ids.append((await alice.send("bob", "hi")).message_id)
        world.pass_time(seconds=0.001)
    assert all(ID.fullmatch(id_) for id_ in ids)
    assert ids == sorted(ids)
    assert ids[0].startswith(f"{1767225600000}-")
    assert len(set(ids)) == 20


@pytest.mark.requirement("dialogue.kinds")
async def test_a_request_expects_a_reply_and_a_notify_and_a_response_never_do(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    told = await alice.send("bob", "it is done")
    answer = await bob.reply(asked.message_id, "yes")
    messages = [await world.services.mail.message(r.message_id) for r in (asked, told, answer)]
    assert [(m.kind, m.expects_reply, m.in_reply_to) for m in messages] == [
        (Kind.REQUEST, True, None),
        (Kind.NOTIFY, False, None),
        (Kind.RESPONSE, False, asked.message_id),
    ]


@pytest.mark.requirement("dialogue.kinds")
@pytest.mark.parametrize("kind", [Kind.NOTIFY, Kind.RESPONSE, Kind.UPDATE, Kind.TASK])
async def test_only_a_request_may_expect_a_reply(world: World, kind: Kind) -> None:
    alice, _bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    draft = Draft(kind, (), (TextPart("…"),), in_reply_to=asked.message_id, expects_reply=True)
    with pytest.raises(KindRule):
        await world.services.mail.send(draft, alice.identity, SendPolicy())


@pytest.mark.requirement("dialogue.kinds")
async def test_a_request_may_expect_no_reply_and_then_none_is_owed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    told = await alice.send("bob", "…")
    draft = Draft(Kind.REQUEST, (), (TextPart("please look at it"),), in_reply_to=told.message_id)
    receipt = await world.services.mail.send(draft, bob.identity, SendPolicy())
    assert not await alice.owed()
    await alice.archive(receipt.message_id)


@pytest.mark.requirement("dialogue.kinds")
async def test_a_response_names_its_request(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    before = await world.position()
    draft = Draft(Kind.RESPONSE, (), (TextPart("yes"),))
    with pytest.raises(KindRule) as caught:
        await world.services.mail.send(draft, bob.identity, SendPolicy())
    assert caught.value.code == "kind-rule"
    with pytest.raises(Exception, match="no message") as missing:
        await alice.reply("1767225600000-99999999-0000-4000-8000-000000000000", "yes")
    assert getattr(missing.value, "code", None) == "message-unknown"
    assert await world.position() == before


@pytest.mark.requirement("dialogue.subject")
async def test_messages_are_found_by_their_subject(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build", subject="missing-test")
    await bob.reply(asked.message_id, "yes")
    await alice.send("bob", "…", scope="build", subject="dead-code")
    await alice.send("bob", "elsewhere", scope="docs", subject="missing-test")

    async def found(wanted: MessageFilter) -> list[str]:
        return [m.text for m in await world.services.dialogue.find(wanted)]

    subject = parse_subject("missing-test")
    assert await found(MessageFilter(subject=subject)) == ["shall I?", "yes", "elsewhere"]
    assert await found(MessageFilter(subject=subject, scope=parse_scope("build"))) == ["shall I?", "yes"]
    assert await found(MessageFilter(subject=subject, kind=Kind.RESPONSE)) == ["yes"]


@pytest.mark.requirement("dialogue.subject")
@pytest.mark.parametrize(
    "subject", ["", "Missing-Test", "missing_test", "missing test", "-x", "x-", "x--y", "é", "a" * 129]
)
async def test_a_subject_is_kebab_case(world: World, subject: str) -> None:
    alice, _bob = await world.join("alice", "bob")
    with pytest.raises(Invalid):
        await alice.send("bob", "…", subject=subject)


@pytest.mark.requirement("dialogue.recipient")
async def test_an_unknown_recipient_is_refused_with_similar_names(world: World) -> None:
    alice, _critic = await world.join("alice", "critic")
    before = await world.position()
    with pytest.raises(RecipientUnknown) as caught:
        await alice.send(["critic", "critik"], "hi")
    assert caught.value.code == "messages-recipient-unknown"
    assert caught.value.details == {"recipient": "critik", "closest": ["critic"]}
    assert await world.position() == before  # the known recipient gets nothing either


@pytest.mark.requirement("dialogue.recipient")
async def test_a_closed_roster_refuses_unknown_names_whatever_the_send_policy_says(world: World) -> None:
    (alice,) = await world.join("alice")
    await alice.send("early", "hi", when_unknown="register")
    await world.services.policies.close_roster(alice.identity)
    with pytest.raises(RecipientUnknown):
        await alice.send("late", "hi", when_unknown="register")
    await alice.send("early", "hi again")
    await world.services.policies.close_roster(alice.identity, closed=False)
    await alice.send("late", "hi", when_unknown="register")


@pytest.mark.requirement("dialogue.archive.refused")
@pytest.mark.parametrize("step", ["queued", "dismissed"])
async def test_a_request_without_an_answer_cannot_be_archived(world: World, step: str) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    if step == "dismissed":
        await bob.dismiss(asked.message_id)
    before = await world.snapshot()
    with pytest.raises(NotAnswered) as caught:
        await bob.archive(asked.message_id)
    assert caught.value.code == "messages-archive-without-reply"
    assert await world.snapshot() == before
    await bob.reply(asked.message_id, "yes")
    await bob.archive(asked.message_id)


@pytest.mark.requirement("dialogue.archive.refused")
async def test_a_question_back_is_no_answer(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    await ask_back(world, bob, asked.message_id, "when?")
    with pytest.raises(NotAnswered):
        await bob.archive(asked.message_id)


@pytest.mark.requirement("dialogue.archive.twice")
async def test_archiving_again_is_refused(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    told = await alice.send("bob", "it is done")
    await bob.archive(told.message_id)
    delivery = await world.delivery(told.message_id)
    assert (delivery.state, delivery.archived_at) == (DeliveryState.HANDLED, world.clock.now())
    before = await world.snapshot()
    with pytest.raises(AlreadyArchived) as caught:
        await bob.archive(told.message_id)
    assert caught.value.code == "messages-already-archived"
    assert await world.snapshot() == before


@pytest.mark.requirement("dialogue.archive.twice")
async def test_each_recipient_archives_for_itself(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    told = await alice.send(["bob", "carol"], "it is done")
    await bob.archive(told.message_id)
    assert await waiting(carol) == ["it is done"]
    await carol.archive(told.message_id)


async def ping_pong(alice: Member, bob: Member) -> list[str]:
    asked = await alice.send("bob", "1", kind="request", scope="build")
    ids = [str(asked.message_id)]
    for n, (who, other) in enumerate([(bob, alice), (alice, bob), (bob, alice)], 2):
        ids.append((await who.reply(ids[-1], str(n))).message_id)
        assert other.name != who.name
    return ids


@pytest.mark.requirement("dialogue.thread")
async def test_the_thread_of_any_message_is_the_whole_chain_in_causal_order(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await alice.send("bob", "another thread", scope="build")
    ids = await ping_pong(alice, bob)
    await bob.archive(ids[0])
    await carol.reply(ids[1], "a remark")
    assert (await alice.sweep("build")).messages_swept == 6
    expected = ["1", "2", "3", "4", "a remark"]
    for message_id in ids:
        assert [m.text for m in await world.observer.thread(message_id)] == expected
    world.clock.jump(-3600)  # the order does not depend on the clock
    last = await bob.reply(ids[-1], "5")
    thread = await world.observer.thread(ids[0])
    assert [m.text for m in thread] == [*expected, "5"]
    assert thread[-1].id == last.message_id
    assert {m.thread for m in thread} == {parse_message_id(ids[0])}


@pytest.mark.requirement("ledger.tickets")
async def test_an_expired_request_can_be_archived_before_its_expiry_is_recorded(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "quick?", kind="request", expires_in=timedelta(minutes=1))
    with pytest.raises(NotAnswered):
        await bob.archive(receipt.message_id)
    world.pass_time(minutes=2)
    await bob.archive(receipt.message_id)
    assert (await world.ticket(receipt.message_id, "bob")).state is TicketState.CLOSED


@pytest.mark.requirement("ledger.tickets")
async def test_a_question_back_is_a_request_in_reply_to_the_question(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "format this", kind="request")
    back = await bob.send("alice", "which style?", kind="request", in_reply_to=asked.message_id)
    assert (await world.ticket(asked.message_id, "bob")).awaits == f"{back.message_id}@alice"
    await alice.reply(back.message_id, "the usual")
    assert (await world.ticket(asked.message_id, "bob")).awaits is None
