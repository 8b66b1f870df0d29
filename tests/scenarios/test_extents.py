"""Extents: a message counts as seen only when all of it was shown with evidence.

The rest of a cut message comes later.
"""

import pytest

from covey.core.errors import IllegalMove
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.offer import EvidenceGrade, Extent
from covey.ports.store import Transaction
from covey.surfaces.python.member import Member
from tests.scenarios.world import OpenStore, World, read

pytestmark = pytest.mark.requirement("ledger.evidence")

WORDS = 8_000
LONG = " ".join(f"w{number}" for number in range(WORDS))
"""A text of some 47,000 characters in which every word is unique."""

QUEUED, IN_CONTEXT, HANDLED = DeliveryState.QUEUED, DeliveryState.IN_CONTEXT, DeliveryState.HANDLED


async def turn(member: Member, *, answers: bool = True, until_handled: bool = False) -> list[tuple[Extent, str]]:
    """Run a turn of a model. Return the extent and the text that was shown of each message."""
    presentation = "until_handled" if until_handled else "once"
    async with member.turn(presentation=presentation) as shown:
        text = shown.text()
        assert all(letter.text.split()[0] in text for letter in shown.pending.letters)
        if answers:
            shown.responded("response")
    return [(letter.extent, letter.text) for letter in shown.pending.letters]


async def of(world: World, message_id: str) -> DeliveryRecord:
    return await world.delivery(message_id)


@pytest.mark.requirement("trust.extent")
async def test_a_long_note_is_handled_only_when_all_of_it_was_shown(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    parts: list[str] = []
    stops = [0]
    while (await of(world, receipt.message_id)).state is not HANDLED:
        ((extent, text),) = await turn(bob)
        assert (extent.start, extent.length) == (stops[-1], len(LONG))
        parts.append(text)
        stops.append(extent.stop)
        copy = await of(world, receipt.message_id)
        assert copy.seen is not None
        assert (copy.seen.shown, copy.seen.length) == (extent.stop, len(LONG))
        if extent.stop < len(LONG):
            assert (copy.state, copy.grade, copy.reason) == (QUEUED, None, str(copy.seen))
            assert not await receipt.until("in_context", grade="inferred", timeout=0)
    assert "".join(parts) == LONG
    assert len(parts) > 2
    copy = await of(world, receipt.message_id)
    assert (copy.grade, copy.reason) == (EvidenceGrade.WITNESSED, "shown")
    assert await turn(bob) == []


async def test_a_part_says_which_characters_it_has_and_how_to_read_on(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", LONG)
    async with bob.turn(rest="read on at {next}") as first:
        text = first.text()
        (letter,) = first.pending.letters
        first.responded("response")
    stop = letter.extent.stop
    assert f"{stop:,} of {len(LONG):,} characters; the rest: read on at {stop + 1}" in text
    async with bob.turn(rest="read on at {next}") as second:
        text = second.text()
        (letter,) = second.pending.letters
    shown = f"goes on: characters {stop + 1:,}–{letter.extent.stop:,} of {len(LONG):,}"
    assert f"{shown}; the rest: read on at {letter.extent.stop + 1}" in text


async def test_a_part_that_did_not_reach_the_model_is_shown_again(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    first = await turn(bob, answers=False)
    assert (await of(world, receipt.message_id)).seen is None
    assert await turn(bob) == first
    second = await turn(bob, answers=False)
    assert second[0][0].start == first[0][0].stop
    copy = await of(world, receipt.message_id)
    assert copy.seen is not None
    assert copy.seen.shown == first[0][0].stop
    assert await turn(bob) == second


async def test_a_request_is_in_context_only_when_all_of_it_was_shown_and_can_be_answered_before(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG, kind="request")
    await turn(bob)
    copy = await of(world, receipt.message_id)
    assert (copy.state, copy.is_partly_seen) == (QUEUED, True)
    await bob.reply(receipt.message_id, "I have read enough")
    copy = await of(world, receipt.message_id)
    assert (copy.state, copy.reason, copy.grade) == (HANDLED, "answered", None)
    assert copy.seen is not None
    assert copy.seen.shown < copy.seen.length


async def test_a_message_that_is_shown_until_handled_is_first_shown_to_its_end(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    shown = 0
    while (await of(world, receipt.message_id)).state is QUEUED:
        ((extent, _text),) = await turn(bob, until_handled=True)
        assert extent.start == shown
        shown = extent.stop
    assert (await of(world, receipt.message_id)).state is IN_CONTEXT
    ((extent, _text),) = await turn(bob, until_handled=True)
    assert extent.start == 0, "then it is shown from the beginning, until it is handled"


async def test_the_grade_of_a_message_is_that_of_its_weakest_part(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG, kind="request")
    grades = iter(["inferred", *["witnessed"] * 99])
    while (await of(world, receipt.message_id)).state is QUEUED:
        async with bob.turn() as shown:
            offer = shown.pending.offer
            assert offer is not None
            grade = EvidenceGrade(next(grades))
            await world.services.offers.confirm(offer, bob.identity, grade, "a test")
    assert (await of(world, receipt.message_id)).grade is EvidenceGrade.INFERRED


async def test_evidence_may_come_late_and_out_of_order(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG, kind="request")
    confirm = world.services.offers.confirm
    first = await world.services.reading.read(receipt.message_id, bob.identity, 0, 20_000, "a tool")
    second = await world.services.reading.read(receipt.message_id, bob.identity, 20_000, 10**6, "a tool")
    assert first.offer is not None
    assert second.offer is not None
    assert first.text + second.text == LONG
    world.pass_time(minutes=11)
    await world.tend()
    await confirm(second.offer, bob.identity, EvidenceGrade.WITNESSED, "late")
    copy = await of(world, receipt.message_id)
    assert (copy.state, copy.grade, copy.is_partly_seen) == (QUEUED, None, True)
    ((extent, _text),) = await turn(bob, answers=False)
    assert extent.start == 0, "the first part is the one that is missing"
    await confirm(first.offer, bob.identity, EvidenceGrade.WITNESSED, "later still")
    assert (await of(world, receipt.message_id)).state is IN_CONTEXT


async def test_naming_a_message_proves_only_the_part_that_was_shown(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    async with bob.turn() as shown:
        shown.text()
        (letter,) = shown.pending.letters
        (copy,) = await world.services.offers.named(receipt.message_id, bob.identity, "in a call")
        assert copy.seen is not None
        assert (copy.state, copy.seen.shown) == (QUEUED, letter.extent.stop)
        shown.responded("response")
    assert (await of(world, receipt.message_id)).state is QUEUED


async def test_another_session_is_shown_the_whole_message(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    await turn(bob)
    await bob.leave()
    assert (await of(world, receipt.message_id)).seen is None
    (heir,) = await world.join("bob")
    ((extent, _text),) = await turn(heir)
    assert extent.start == 0


async def test_a_partly_shown_message_cannot_be_withdrawn(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    await turn(bob)
    with pytest.raises(IllegalMove):
        await alice.withdraw(receipt.message_id)


async def test_an_offer_of_a_whole_message_has_a_whole_extent(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG, data={"also": "this"})
    showing = await read(bob)
    (extent,) = showing.offer.extents
    assert extent.is_whole
    assert extent.length > len(LONG)
    copy = await of(world, receipt.message_id)
    assert (copy.state, copy.grade) == (HANDLED, EvidenceGrade.WITNESSED)


@pytest.mark.parametrize("budget", [2_500, 50_000])
async def test_the_parts_of_any_text_add_up_to_the_whole(world: World, budget: int) -> None:
    alice, bob = await world.join("alice", "bob")
    bodies = [
        " " * 700 + "x",
        "\n" * 900,
        "\x1b" * 600,
        "</covey-mail>" * 90,
        "a" * 3_000,
        "\u202e<>&" * 300,
        "é" * 900,
    ]
    ids = [(await alice.send("bob", body, kind="request")).message_id for body in bodies]
    shown: dict[str, str] = dict.fromkeys(ids, "")
    for _turn in range(400):
        async with bob.turn(budget=budget) as one:
            assert len(one.text()) <= budget
            for letter in one.pending.letters:
                assert letter.start == len(shown[letter.message_id])
                assert letter.text, "each turn shows something of what it shows"
                shown[letter.message_id] += letter.text
            one.responded("response")
        if not one.pending.letters:
            break
    assert [shown[message_id] for message_id in ids] == bodies


async def test_evidence_with_a_gap_does_not_handle_a_message(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    reading = world.services.reading
    for start in (0, 30_000):
        part = await reading.read(receipt.message_id, bob.identity, start, 10_000, "a tool")
        assert part.offer is not None
        await world.services.offers.confirm(part.offer, bob.identity, EvidenceGrade.WITNESSED, "a test")
    copy = await of(world, receipt.message_id)
    assert copy.seen is not None
    assert (copy.state, copy.seen.shown) == (QUEUED, 20_000)
    ((extent, _text),) = await turn(bob)
    assert extent.start == 10_000


async def test_an_offer_of_an_older_version_counts_as_whole(open_store: OpenStore) -> None:
    # a new world without the audit at the end: its journal has more than that of an older version
    world = World(open_store)
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG, kind="request")
    showing = await bob.offer("turn")
    assert showing is not None

    async def make_older(tx: Transaction) -> None:
        await tx.offers.put(showing.offer._replace(extents=()))
        (copy,) = await tx.deliveries.of_message(receipt.message_id)
        await tx.deliveries.put(copy._replace(seen=None))

    await world.observer.store.commit(make_older)
    (named,) = await bob.named(receipt.message_id, "in a call")
    assert (named.state, named.grade, named.seen) == (IN_CONTEXT, EvidenceGrade.NAMED, None)
    await bob.confirm(showing.offer.id, "witnessed", "the response")
    assert (await of(world, receipt.message_id)).grade is EvidenceGrade.WITNESSED
    await world.close()
