"""Reading on: with every toolkit, a model can read all of a cut message, and unread parts do not count as seen."""

import re

import pytest

from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.text.escape import harmless
from covey.surfaces.python.member import Member
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.tool import ToolAnswer
from tests.scenarios.tools import fields, use
from tests.scenarios.world import World

LONG = "".join(f"line {number}\n" for number in range(5_000))
WAY = re.compile(r"the rest: (\w+)\(message=(\d+), start=(\d+)\)", re.IGNORECASE)


async def shown_by_turn(member: Member, kit: str) -> tuple[str, re.Match[str]]:
    """Run a turn of a model with a toolkit. Return the shown text, and the instruction to read on."""
    async with member.turn(**member.tools(kit).showing) as turn:
        text = turn.text()
        (letter,) = turn.pending.letters
        turn.responded("response")
    way = WAY.search(text)
    assert way is not None, text[:500]
    return letter.text, way


async def confirm(world: World, member: Member, answer: ToolAnswer) -> None:
    assert answer.offer is not None, "what a tool shows of new mail is an offer"
    await world.services.offers.confirm(answer.offer, member.identity, EvidenceGrade.WITNESSED, "the next response")


@pytest.mark.parametrize("kit", HOMES)
async def test_every_toolkit_has_a_tool_that_reads_on(world: World, kit: str) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    read, way = await shown_by_turn(bob, kit)
    tool, number, start = way.groups()
    assert int(start) == len(read) + 1
    while len(read) < len(LONG):
        copy = await world.delivery(receipt.message_id)
        assert copy.state is DeliveryState.QUEUED
        answer = await use(bob, kit, tool, message=int(number), start=len(read) + 1)
        read += str(fields(answer)["text"])
        await confirm(world, bob, answer)
    assert read == harmless(LONG)
    copy = await world.delivery(receipt.message_id)
    keeps = toolkit(kit).presentation is Presentation.UNTIL_HANDLED
    assert copy.state is (DeliveryState.IN_CONTEXT if keeps else DeliveryState.HANDLED)
    assert copy.grade is EvidenceGrade.WITNESSED


@pytest.mark.parametrize("kit", HOMES)
async def test_text_that_a_tool_has_shown_does_not_count_as_seen_without_evidence(world: World, kit: str) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", LONG)
    read, way = await shown_by_turn(bob, kit)
    await use(bob, kit, way[1], message=1, start=len(read) + 1)
    copy = await world.delivery(receipt.message_id)
    assert copy.seen is not None
    assert (copy.state, copy.seen.shown) == (DeliveryState.OFFERED, len(read))
    world.pass_time(minutes=11)
    again, _ = await shown_by_turn(bob, kit)
    assert LONG[len(read) :].startswith(again), "what nobody has evidence for is shown again"


async def test_reading_a_seen_message_again_makes_no_offer(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "all of it")
    async with bob.turn() as turn:
        turn.text()
        turn.responded("response")
    answer = await use(bob, "peers", "read_message", message=1)
    assert (answer.offer, fields(answer)["text"]) == (None, "all of it")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


@pytest.mark.parametrize("start", [0, -1, 11])
async def test_a_start_outside_the_text_is_an_error(world: World, start: int) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "123456789")
    answer = await use(bob, "peers", "read_message", message=1, start=start)
    assert answer.is_error
    assert "start" in answer.text
