"""Pending messages of a session: looked at, or taken for one showing within a budget."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from covey.core.attention.injection import inject
from covey.core.attention.pending import AttentionOptions, OmittedCounts, Pending, SenderRank
from covey.core.attention.provider_messages import Provider
from covey.core.attention.styles import RenderingStyle, framed
from covey.core.errors import Invalid, SessionEnded, SessionUnknown
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import AgentName
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.world import World
from tests.services.claiming import claim_next

ONCE = AttentionOptions()
ALWAYS = AttentionOptions(presentation=Presentation.UNTIL_HANDLED)
SMALL = AttentionOptions(budget=2_500)


async def take(world: World, member: Member, terms: AttentionOptions = ONCE) -> Pending:
    """Take the pending messages, with evidence that the model had them."""
    pending = await world.services.attention.take(member.identity, "turn", terms)
    if pending.offer is not None:
        await world.services.offers.confirm(pending.offer, member.identity, EvidenceGrade.WITNESSED, "a response")
    world.pass_time(seconds=1)
    return pending


def texts(pending: Pending) -> Sequence[str]:
    return [letter.text for letter in pending.letters]


async def send_as(world: World, sender: Identity, to: str, text: str, kind: Kind = Kind.NOTIFY) -> None:
    draft = Draft(kind, (parse_address(to),), (TextPart(text),), expects_reply=kind is Kind.REQUEST)
    await world.services.mail.send(draft, sender, SendPolicy())


async def test_looking_shows_the_content_of_the_next_turn_and_changes_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.set_status("Working on the parser")
    receipt = await alice.send("bob", "Shall I merge?", kind="request", scope="build", subject="parser")
    before = await world.snapshot()
    pending = await world.services.attention.look(bob.identity)
    assert await world.snapshot() == before
    (letter,) = pending.letters
    assert (letter.number, letter.message_id, letter.sender) == (1, receipt.message_id, alice.identity)
    assert (letter.kind, letter.expects_reply, letter.scope, letter.subject) == (Kind.REQUEST, True, "build", "parser")
    assert (letter.text, letter.sent_at, letter.correlation_id) == ("Shall I merge?", world.clock.now(), None)
    assert [(other.name, other.status) for other in pending.others] == [("alice", "Working on the parser")]
    assert (pending.offer, pending.left_out, pending.has_announced) == (None, OmittedCounts(), False)


async def test_taking_creates_an_offer_and_confirming_it_settles_the_delivery(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "hello")
    pending = await world.services.attention.take(bob.identity, "turn 1")
    assert pending.offer is not None
    offer = await world.offer(pending.offer)
    assert (offer.turn, offer.presentation) == ("turn 1", Presentation.ONCE)
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.OFFERED
    assert (await world.services.attention.take(bob.identity, "turn 2")).letters == ()
    await world.services.offers.confirm(offer.id, bob.identity, EvidenceGrade.WITNESSED, "…")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


async def test_if_nothing_is_pending_nothing_is_written(world: World) -> None:
    _, bob = await world.join("alice", "bob")
    position = await world.position()
    pending = await world.services.attention.take(bob.identity, "turn")
    assert (pending.letters, pending.offer, [other.name for other in pending.others]) == ((), None, ["alice"])
    assert await world.position() == position


async def test_an_offer_that_lapsed_is_shown_again_also_by_a_look(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hello")
    await world.services.attention.take(bob.identity, "turn 1")
    assert texts(await world.services.attention.look(bob.identity)) == []
    world.pass_time(minutes=11)
    assert texts(await world.services.attention.look(bob.identity)) == ["hello"]
    assert texts(await world.services.attention.take(bob.identity, "turn 2")) == ["hello"]


async def test_a_message_that_expired_is_not_pending(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "for a minute", expires_in=timedelta(minutes=1))
    world.pass_time(minutes=2)
    assert texts(await world.services.attention.look(bob.identity)) == []


@pytest.mark.requirement("attention.budget", "identity.grades")
async def test_the_operator_comes_before_leads_before_peers_and_requests_before_notes(world: World) -> None:
    peer, chief, bob = await world.join("peer", "chief", "bob")
    await peer.send("bob", "a peer's note")
    await peer.send("bob", "a peer's question", kind="request")
    await chief.send("bob", "a lead's note")
    await chief.send("bob", "a lead's question", kind="request")
    operator = await world.operator()
    await send_as(world, operator, "bob", "the operator's note")
    await send_as(world, operator, "bob", "the operator's question", Kind.REQUEST)
    pending = await take(world, bob, AttentionOptions(leads={AgentName("chief")}))
    assert texts(pending) == [
        "the operator's question",
        "the operator's note",
        "a lead's question",
        "a lead's note",
        "a peer's question",
        "a peer's note",
    ]
    assert [letter.rank for letter in pending.letters] == [SenderRank(n // 2) for n in range(6)]


@pytest.mark.requirement("attention.budget")
async def test_the_delegator_of_a_task_is_a_lead_until_the_task_is_done(world: World) -> None:
    chief, peer, bob = await world.join("chief", "peer", "bob")
    await send_as(world, chief.identity, "bob", "build it", Kind.TASK)
    (task,) = await world.services.inbox.peek(AgentName("bob"))
    assert await claim_next(world.services, bob.identity) is not None
    await take(world, bob)
    await peer.send("bob", "peer")
    await chief.send("bob", "chief")
    assert texts(await world.services.attention.look(bob.identity)) == ["chief", "peer"]
    await bob.handle(task.message.id)
    assert texts(await world.services.attention.look(bob.identity)) == ["peer", "chief"]


@pytest.mark.requirement("attention.budget")
async def test_the_spawner_of_a_session_is_its_lead(world: World) -> None:
    coder, peer = await world.join("coder", "peer")
    child = await world.services.directory.join(JoinRequest(AgentName("coder"), parent=coder.session.key))
    grandchild = await world.services.directory.join(JoinRequest(AgentName("tester"), parent=child.session.key))
    for session in (child, grandchild):
        await peer.send(str(session.session.id), "peer")
        await coder.send(str(session.session.id), "coder")
        assert texts(await world.services.attention.look(session.identity)) == ["coder", "peer"]


@pytest.mark.requirement("attention.budget")
async def test_messages_that_did_not_fit_are_counted_and_come_in_the_next_turns(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(30):
        await alice.send("bob", f"{n:02} " + "x" * 300, kind="request" if n % 10 == 9 else "notify")
    seen: list[str] = []
    turns = 0
    while (pending := await take(world, bob, SMALL)).letters:
        turns += 1
        seen += texts(pending)
        for style in RenderingStyle:
            assert len(framed(pending, style)) <= SMALL.budget
        assert pending.left_out.messages == 30 - len(seen)
        if pending.left_out.messages:
            assert f"{counted_left(pending)} did not fit" in framed(pending, RenderingStyle.PEERS)
    assert len(seen) == len(set(seen)) == 30
    assert {text[:2] for text in seen[:4]} >= {"00", "09", "19", "29"}
    assert turns < 12


def counted_left(pending: Pending) -> str:
    return f"{pending.left_out.messages} more message{'s' if pending.left_out.messages > 1 else ''}"


@pytest.mark.requirement("attention.budget")
async def test_a_note_is_not_starved_by_more_important_mail_that_keeps_coming(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(3):
        await alice.send("bob", f"note {n}")
    shown: list[int] = []
    for turn in range(6):
        for n in range(8):
            await alice.send("bob", f"question {turn}.{n} " + "x" * 300, kind="request")
        shown += [turn for text in texts(await take(world, bob, SMALL)) if text.startswith("note")]
    assert shown == [0, 1, 2]


@pytest.mark.requirement("attention.budget", "broadcast.persist")
async def test_messages_shown_until_handled_take_turns_if_not_all_of_them_fit(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(12):
        await alice.send("bob", f"{n:02} " + "x" * 300, kind="request" if n < 6 else "notify")
    terms = ALWAYS._replace(budget=2_500)
    turns = [{text[:2] for text in texts(await take(world, bob, terms))} for _ in range(24)]
    assert set().union(*turns[:12]) == set().union(*turns[12:]) == {f"{n:02}" for n in range(12)}


@pytest.mark.requirement("attention.budget")
async def test_only_the_newest_state_of_a_subject_is_shown_and_older_ones_never_again(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    old = await alice.send("bob", "1 of 3", scope="build", subject="progress")
    assert texts(await take(world, bob, ALWAYS)) == ["1 of 3"]
    new = await alice.send("bob", "2 of 3", scope="build", subject="progress")
    assert texts(await world.services.attention.look(bob.identity, ALWAYS)) == ["2 of 3"]
    pending = await take(world, bob, ALWAYS)
    assert (texts(pending), pending.left_out) == (["2 of 3"], OmittedCounts())
    delivery = await world.delivery(old.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.HANDLED, f"superseded by {new.message_id}")
    await bob.dismiss(new.message_id)
    assert texts(await take(world, bob, ALWAYS)) == []


@pytest.mark.requirement("attention.budget")
async def test_an_older_state_that_was_given_back_is_superseded(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    old = await alice.send("bob", "1 of 3", scope="build", subject="progress")
    pending = await world.services.attention.take(bob.identity, "turn 1")
    await alice.send("bob", "2 of 3", scope="build", subject="progress")
    assert pending.offer is not None
    await world.services.offers.give_back(pending.offer, bob.identity, "it failed")
    assert texts(await take(world, bob)) == ["2 of 3"]
    assert (await world.delivery(old.message_id)).state is DeliveryState.SUPERSEDED
    assert texts(await take(world, bob)) == []


@pytest.mark.requirement("attention.budget")
async def test_a_long_body_is_cut_and_marked_as_cut(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "word " * 10_000)
    (letter,) = (await take(world, bob)).letters
    assert letter.is_cut
    assert 5_000 < len(letter.text) < 8_000
    assert letter.length == 50_000
    assert letter.message_id == receipt.message_id


async def test_data_and_files_are_part_of_the_body(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "see", data={"lines": [1, 2]})
    assert texts(await take(world, bob)) == ['see\n\n{"lines":[1,2]}']


async def test_only_other_live_agents_are_shown(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await world.join("bob")
    world.kill(carol)
    await alice.set_busy()
    pending = await world.services.attention.look(bob.identity)
    assert [(other.name, str(other.presence)) for other in pending.others] == [("alice", "busy")]


async def test_the_hint_is_shown_until_the_agent_sets_a_status(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert not (await world.services.attention.look(bob.identity, ALWAYS)).has_announced
    await bob.set_status("Starting backend work")
    assert (await world.services.attention.look(bob.identity, ALWAYS)).has_announced
    (other,) = (await world.services.attention.look(alice.identity, ALWAYS)).others
    assert (other.name, other.status) == ("bob", "Starting backend work")


@pytest.mark.requirement("broadcast.persist")
async def test_a_message_is_in_every_injection_until_it_is_handled_by_a_reply(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.send("bob", "What's the status on the API?")
    await alice.send("bob", "Also, can you check the tests?")

    async def injected(member: Member) -> list[int]:
        pending = await take(world, member, ALWAYS)
        history = [{"role": "user", "content": "Go on."}]
        messages = inject(history, pending, provider=Provider.OPENAI, tools=["broadcast"]).messages
        return [message["id"] for message in json.loads(messages[-1]["content"])["messages"]]

    for minutes in (0, 1, 30):
        world.pass_time(minutes=minutes)
        assert await injected(bob) == [1, 2]
        assert len(await bob.inbox.peek()) == 2
    await bob.reply(first.message_id, "Half done.", close=True)
    assert await injected(bob) == [2]
    await world.restart()
    (again,) = await world.join("bob")
    assert await injected(again) == [2]


async def test_several_processes_of_a_session_that_take_at_once_show_each_message_once(world: World) -> None:
    """The hooks and the server of a client act for one session."""
    alice, bob = await world.join("alice", "bob")
    for n in range(40):
        await alice.send("bob", f"{n:02} " + "x" * 300)
    services = [world.process().services for _ in range(4)]
    taken = await asyncio.gather(
        *(each.attention.take(bob.identity, f"turn {n}", SMALL) for n in range(3) for each in services)
    )
    shown = [text for pending in taken for text in texts(pending)]
    assert len(shown) == len(set(shown)) > 20
    assert all((pending.offer is not None) == bool(pending.letters) for pending in taken)


async def test_only_a_session_has_attention(world: World) -> None:
    (bob,) = await world.join("bob")
    with pytest.raises(SessionUnknown):
        await world.services.attention.look(Identity(AgentName("bob")))
    await bob.leave()
    with pytest.raises(SessionEnded):
        await world.services.attention.take(bob.identity, "turn")


async def test_invalid_terms_are_refused_before_anything_happens(world: World) -> None:
    (bob,) = await world.join("bob")
    with pytest.raises(Invalid):
        await world.services.attention.take(bob.identity, "turn", AttentionOptions(budget=10))
