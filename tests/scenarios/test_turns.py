"""Turns of a custom loop: messages in a request count as read once the provider has responded."""

import asyncio
from typing import Any

import pytest

import covey
from covey.core.errors import Invalid
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.surfaces.python.turn import Turn
from tests.scenarios.world import World

HISTORY = [{"role": "user", "content": "What is new?"}]


async def failing(turn: Turn, error: type[BaseException], response: str | None = None) -> None:
    """Fail within a turn, after a response if one is given."""
    async with turn:
        turn.inject(HISTORY, provider="openai-responses")
        if response is not None:
            turn.responded(response)
        raise error


async def test_a_turn_with_a_response_confirms_as_witnessed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "The parser is done.")
    async with bob.turn("step 1") as turn:
        request = turn.inject(HISTORY, provider="anthropic")
        assert "The parser is done." in request.messages[-1]["content"]
        assert (await world.delivery(receipt.message_id)).state is DeliveryState.OFFERED
        turn.responded("msg_1")
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.grade) == (DeliveryState.HANDLED, EvidenceGrade.WITNESSED)
    (evidence,) = await world.events(Action.EVIDENCE)
    assert evidence.details["basis"] == "the response msg_1"
    assert await receipt.until("in_context", timeout=0)
    assert HISTORY == [{"role": "user", "content": "What is new?"}]


async def test_without_a_response_nothing_is_confirmed_and_the_mail_is_shown_again(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "The parser is done.")
    async with bob.turn() as turn:
        turn.inject(HISTORY, provider="openai")
    assert not await world.events(Action.EVIDENCE)
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.grade, delivery.reason) == (
        DeliveryState.QUEUED,
        None,
        "no response was reported",
    )
    async with bob.turn() as turn:
        assert [letter.text for letter in turn.pending.letters] == ["The parser is done."]


@pytest.mark.parametrize("error", [ConnectionError, asyncio.CancelledError])
async def test_an_exception_returns_the_offer_and_is_raised(world: World, error: type[BaseException]) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "The parser is done.")
    with pytest.raises(error):
        await failing(bob.turn(), error)
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.QUEUED, f"the turn failed: {error.__name__}")


async def test_a_failure_after_the_response_keeps_the_evidence(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "Shall I?", kind="request")
    with pytest.raises(KeyError):
        await failing(bob.turn(), KeyError, "msg_1")
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.grade) == (DeliveryState.IN_CONTEXT, EvidenceGrade.WITNESSED)


async def test_messages_that_were_not_rendered_are_not_confirmed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "The parser is done.")
    async with bob.turn() as turn:
        turn.responded("msg_1")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.QUEUED
    async with bob.turn() as turn:
        assert "The parser is done." in turn.text("compact")
        turn.responded("msg_2")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


async def test_a_failing_store_does_not_hide_why_a_turn_failed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "The parser is done.")

    class Unplugged(Exception):
        pass

    async def fail_with_the_store() -> None:
        async with bob.turn() as turn:
            turn.inject(HISTORY, provider="anthropic")
            await world.restart()
            raise Unplugged

    with pytest.raises(Unplugged):
        await fail_with_the_store()


async def test_a_turn_that_outlives_its_lease_still_counts(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "The parser is done.")
    async with bob.turn() as turn:
        turn.inject(HISTORY, provider="anthropic")
        world.pass_time(minutes=20)
        await world.tend()
        assert (await world.delivery(receipt.message_id)).state is DeliveryState.QUEUED
        turn.responded("msg_1")
    assert (await world.delivery(receipt.message_id)).state is DeliveryState.HANDLED


async def test_a_turn_without_mail_writes_nothing(world: World) -> None:
    (bob,) = await world.join("bob")
    position = await world.position()
    async with bob.turn() as turn:
        assert turn.inject(HISTORY, provider="anthropic").messages == HISTORY
        assert turn.text() == ""
        turn.responded("msg_1")
    assert await world.position() == position


async def test_pending_shows_the_content_of_the_next_turn(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hello", kind="request")
    looked = await bob.pending(presentation="until_handled")
    async with bob.turn(presentation="until_handled") as turn:
        assert turn.pending._replace(offer=None) == looked
        assert turn.pending.presentation is Presentation.UNTIL_HANDLED


async def test_the_instructions_for_left_out_messages_are_those_of_the_loop(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for _ in range(20):
        await alice.send("bob", "x" * 2_000)
    async with bob.turn(budget=3_000, more="call read_mail", rest="call read_mail(id={message})") as turn:
        text = turn.text()
    assert "Read them: call read_mail\n" in text
    assert f'the rest: call read_mail(id={turn.pending.letters[0].message_id})">' in text
    assert len(text) <= 3_000


async def test_leads_are_named_by_the_loop(world: World) -> None:
    alice, chief, bob = await world.join("alice", "chief", "bob")
    await alice.send("bob", "from a peer")
    await chief.send("bob", "from the chief")
    async with bob.turn(leads=["chief"], limit=2) as turn:
        assert [letter.text for letter in turn.pending.letters] == ["from the chief", "from a peer"]


async def test_two_turns_at_once_show_nothing_twice(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hello")
    async with bob.turn() as first, bob.turn() as second:
        assert (len(first.pending.letters), len(second.pending.letters)) == (1, 0)
    assert [event.details["turn"] for event in await world.events(Action.OFFER_MADE)] == ["turn 1"]


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 10},
        {"budget": "8000"},
        {"limit": 0},
        {"presentation": "twice"},
        {"leads": ["no such/name"]},
        {"lease": 10},
        {"more": "{secret}"},
        {"rest": 3},
        {"colour": "red"},
    ],
)
async def test_a_wrong_option_is_invalid(world: World, options: Any) -> None:
    (bob,) = await world.join("bob")
    with pytest.raises(Invalid):
        bob.turn(**options)
    with pytest.raises(Invalid):
        await bob.pending(**options)


async def test_wrong_arguments_of_an_injection_are_invalid(world: World) -> None:
    (bob,) = await world.join("bob")
    wrong: Any = {"provider": "acme"}
    async with bob.turn() as turn:
        with pytest.raises(Invalid, match="anthropic, openai, openai-responses"):
            turn.inject(HISTORY, **wrong)
        with pytest.raises(Invalid, match="messages"):
            turn.inject("What is new?", provider="openai-responses")
        with pytest.raises(Invalid, match="style"):
            turn.text(wrong["provider"])
    with pytest.raises(RuntimeError):
        _ = bob.turn().pending


async def test_an_injection_can_be_taken_out(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hello")
    async with bob.turn() as turn:
        request = turn.inject(HISTORY, provider="openai")
    assert covey.take_out(request.messages, provider="openai") == HISTORY
