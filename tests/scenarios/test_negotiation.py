"""Negotiation: two sessions exchange messages in one thread, up to a limit of rounds, and the result is announced to
people."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from covey.core.channels.channel import console
from covey.core.channels.post import OWN
from covey.core.errors import (
    Invalid,
    LabelAmbiguous,
    OperatorOnly,
    RecipientUnknown,
    RoundsExhausted,
    SessionUnknown,
)
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, parse_message_id
from covey.core.work.negotiation import ANNOUNCE_SKIP, REPLY_SKIP, NegotiationEnding
from covey.services.channels.channels import PersonMessage
from covey.services.dialogue.negotiation import ExchangeState, SessionExchange
from covey.surfaces.python.member import Member
from tests.scenarios.children import until
from tests.scenarios.world import LIMIT_S, World, ask_back, read, soon, waiting

FEISHU = AgentName("feishu")
USER = "user_123"
OWNER = Identity(AgentName("owner"))


class Pair(NamedTuple):
    """The asker and the other side."""

    a: Member
    b: Member


async def pair(world: World) -> Pair:
    a, b = await world.join("writer", "formatter")
    return Pair(a, b)


async def with_channel(world: World, bound_to: str | None = None, conversation: str = USER) -> None:
    await world.services.channels.add(console(FEISHU), OWNER)
    if bound_to is not None:
        await world.services.channels.bind(FEISHU, conversation, parse_address(bound_to), OWNER)


async def posted(world: World) -> Sequence[tuple[str, str, str]]:
    """Carry all due posts. Return the conversation, the sender and the text of each."""
    got: list[tuple[str, str, str]] = []
    while taken := (await world.services.posts.take(FEISHU, 10)).taken:
        for one in taken:
            got.append((one.post.conversation, one.message.sender.agent, one.message.text))
            await world.services.posts.delivered(one.post.id)
    return got


async def exchanged(me: Member, other: Member, text: str, reply: str) -> SessionExchange:
    """Say something, let the other's model read it and reply with its own tool, and return the exchange."""
    saying = asyncio.create_task(me.say(str(other.session.key), text, timeout=LIMIT_S))
    delivery = await soon(other.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    assert delivery.text == text
    await other.say(str(me.session.key), reply, timeout=0)
    return await came(saying)


async def came(saying: "asyncio.Task[SessionExchange]") -> SessionExchange:
    """Return the result of `say`, within the time limit."""
    async with asyncio.timeout(LIMIT_S):
        return await saying


async def give_up(asking: "asyncio.Task[SessionExchange]") -> None:
    """Cancel the wait of the asker."""
    asking.cancel()
    await asyncio.wait([asking])


async def arrived(world: World, member: Member, text: str) -> None:
    """Wait until a text is pending for a member."""

    async def claim() -> bool:
        return text in await waiting(member)

    await until(world, claim)


async def thread_of(world: World, exchange: SessionExchange) -> Sequence[Message]:
    assert exchange.message_id is not None
    return await world.services.dialogue.thread(exchange.message_id)


@pytest.mark.requirement("sessions.send.wait")
async def test_without_a_wait_the_message_is_delivered_and_no_reply_is_owed(world: World) -> None:
    a, b = await pair(world)
    said = await a.say(str(b.session.key), "The build is green.", timeout=0)
    assert (said.state, said.reply, said.ticket, said.round) == (ExchangeState.DELIVERED, None, None, None)
    assert await waiting(b) == ["The build is green."]
    assert list(await b.owed()) == []


@pytest.mark.requirement("sessions.send.wait")
async def test_with_a_wait_the_reply_is_returned_and_comes_no_second_time(world: World) -> None:
    a, b = await pair(world)
    said = await exchanged(a, b, "Format this code", "Which style do you prefer?")
    assert said.state is ExchangeState.REPLIED
    assert said.reply is not None
    assert (said.reply.text, said.round, said.limit) == ("Which style do you prefer?", 1, 5)
    assert await waiting(a) == []
    assert list(await b.owed()) == []


@pytest.mark.requirement("sessions.send.target")
async def test_a_session_is_reached_by_its_key_its_label_or_its_agents_main_key(world: World) -> None:
    a = await world.process().join("lead")
    b = await world.process().join("worker", label="security")
    for name in (str(b.session.key), "security", "agent:worker:main", b.session.id):
        assert (await a.say(name, f"to {name}", timeout=0)).session.id == b.session.id
    assert len(await waiting(b)) == 4


@pytest.mark.requirement("sessions.send.target")
async def test_an_unknown_or_ambiguous_name_is_refused_with_a_reason(world: World) -> None:
    a = await world.process().join("lead")
    with pytest.raises(SessionUnknown, match="no live session security"):
        await a.say("security", "hello", timeout=0)
    b, c = [await world.process().join("worker", label="security") for _ in range(2)]
    with pytest.raises(LabelAmbiguous) as ambiguous:
        await a.say("security", "hello", timeout=0)
    assert ambiguous.value.details["keys"] == [str(b.session.key), str(c.session.key)]
    with pytest.raises(RecipientUnknown, match="worker"):
        await a.say("agent:wroker:main", "hello", timeout=0)
    with pytest.raises(Invalid, match="this is your own session"):
        await a.say(str(a.session.key), "hello", timeout=0)
    await b.leave()
    with pytest.raises(SessionUnknown):
        await a.say("agent:worker:subagent:00000000-0000-4000-8000-000000000001", "hello", timeout=0)
    with pytest.raises(Invalid, match="say something"):
        await a.say(str(c.session.key), "  ", timeout=0)
    assert await waiting(c) == []


@pytest.mark.requirement("sessions.rounds")
async def test_the_documented_negotiation_is_one_thread_with_numbered_rounds(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="formatter")
    await exchanged(a, b, "Format this code", "Which style do you prefer?")
    last = await exchanged(a, b, "Use Prettier", "Done")
    assert (last.round, last.ending) == (2, None)
    ended = await a.say(str(b.session.key), REPLY_SKIP)
    assert (ended.state, ended.ending) == (ExchangeState.ENDED, NegotiationEnding.SKIPPED)
    (asked,) = await waiting(b)  # the announce step; the bare token is not shown beside it
    assert "What should people be told" in asked
    assert ANNOUNCE_SKIP in asked
    await b.say(str(a.session.key), "The code is formatted with Prettier.", timeout=0)
    assert await posted(world) == [(USER, "formatter", "The code is formatted with Prettier.")]
    assert await waiting(a) == []
    thread = await thread_of(world, last)
    rounds = [m.round for m in thread if m.kind in (Kind.REQUEST, Kind.RESPONSE)]
    assert [m.text for m in thread][:5] == [
        "Format this code",
        "Which style do you prefer?",
        "Use Prettier",
        "Done",
        REPLY_SKIP,
    ]
    assert rounds == [1, 1, 2, 2, 2, 2]
    assert list(await a.owed()) == list(await b.owed()) == []


@pytest.mark.requirement("sessions.rounds")
async def test_a_sixth_round_is_refused(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="formatter")
    for count in range(1, 6):
        said = await exchanged(a, b, f"question {count} of mine", f"answer {count} to it")
        assert (said.round, said.limit) == (count, 5)
        assert said.ending is (NegotiationEnding.LIMIT if count == 5 else None)
    with pytest.raises(RoundsExhausted) as refused:
        await a.say(str(b.session.key), "one more thing")
    assert refused.value.details == {
        "session": str(b.session.key),
        "rounds": 5,
        "seconds": 60.0,
        "raise_with": "covey storms limits --rounds N",
    }
    # the question for an announcement was asked at once
    await b.say(str(a.session.key), "The five answers stand.", timeout=0)
    with pytest.raises(RoundsExhausted):  # the other side can't start over either
        await b.say(str(a.session.key), "and another thing")
    assert await posted(world) == [(USER, "formatter", "The five answers stand.")]
    assert (await a.say(str(b.session.key), "I take the third.", timeout=0)).state is ExchangeState.DELIVERED
    await read(b)
    world.pass_time(minutes=1)
    again = await exchanged(a, b, "Something else", "Gladly")
    assert (again.round, again.ending) == (1, None)


@pytest.mark.requirement("sessions.rounds")
async def test_the_operator_sets_the_number_of_rounds(world: World) -> None:
    a, b = await pair(world)
    with pytest.raises(OperatorOnly):
        await world.services.negotiations.set_rounds(2, a.identity)
    operator = await world.operator()
    for wrong in (0, 101, True):
        with pytest.raises(Invalid, match="use 1 to 100"):
            await world.services.negotiations.set_rounds(wrong, operator)
    await world.services.negotiations.set_rounds(2, operator)
    assert await world.services.negotiations.rounds() == 2
    assert (await exchanged(a, b, "first question", "first answer")).ending is None
    assert (await exchanged(a, b, "second question", "second answer")).ending is NegotiationEnding.LIMIT
    with pytest.raises(RoundsExhausted):
        await a.say(str(b.session.key), "third question")


@pytest.mark.requirement("sessions.rounds")
async def test_reply_skip_of_the_other_side_ends_the_negotiation_too(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="formatter")
    said = await exchanged(a, b, "Format this code", f"  {REPLY_SKIP}\n")
    assert (said.state, said.ending) == (ExchangeState.ENDED, NegotiationEnding.SKIPPED)
    (asked,) = await waiting(b)
    assert "What should people be told" in asked
    await b.say(str(a.session.key), ANNOUNCE_SKIP, timeout=0)
    assert await posted(world) == []
    again = await exchanged(a, b, "Then lint it", f"I said {REPLY_SKIP}")  # only the whole message is the token
    assert (again.round, again.ending) == (1, None)


async def test_the_asker_may_be_dead_when_the_result_is_announced(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="formatter")
    await exchanged(a, b, "Format this code", "Done")
    await a.say(str(b.session.key), REPLY_SKIP)
    world.kill(a)
    delivery = await soon(b.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    await b.reply(delivery.message.id, "It is formatted.")  # any tool that answers can be used
    assert await posted(world) == [(USER, "formatter", "It is formatted.")]


async def test_without_a_bound_conversation_no_announcement_is_asked_for(world: World) -> None:
    a, b = await pair(world)
    await exchanged(a, b, "Format this code", "Done")
    assert (await a.say(str(b.session.key), REPLY_SKIP)).state is ExchangeState.ENDED
    assert await waiting(b) == [REPLY_SKIP]
    nothing = await a.say(str(b.session.key), REPLY_SKIP)
    assert (nothing.state, nothing.message_id) == (ExchangeState.ENDED, None)


async def test_with_several_bound_conversations_no_announcement_is_asked_for(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="formatter")
    await world.services.channels.bind(FEISHU, "user_456", parse_address("formatter"), OWNER)
    await exchanged(a, b, "Format this code", "Done")
    await a.say(str(b.session.key), REPLY_SKIP)
    assert await waiting(b) == [REPLY_SKIP]  # the right conversation is unknown


@pytest.mark.requirement("sessions.rounds")
async def test_the_result_goes_to_the_person_whose_message_led_to_the_negotiation(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world, bound_to="writer", conversation=OWN)
    await world.services.channels.hear(PersonMessage(FEISHU, "user_789", "Please have it formatted."))
    async with a.turn() as turn:
        turn.text()
        turn.responded("r")
    await exchanged(a, b, "Format this code", "Done")
    await a.say(str(b.session.key), REPLY_SKIP)
    await b.say(str(a.session.key), "Formatted.", timeout=0)
    assert await posted(world) == [("user_789", "formatter", "Formatted.")]


@pytest.mark.requirement("sessions.send.late")
async def test_a_wait_that_runs_out_has_a_ticket_and_the_late_reply_arrives_once_in_the_thread(world: World) -> None:
    a, b = await pair(world)
    asking = asyncio.create_task(a.say(str(b.session.key), "Format this code", timeout=5))
    await world.is_owed(a)
    while not asking.done():
        world.pass_time(seconds=5)
        await asyncio.sleep(0.001)
    said = await asking
    assert (said.state, said.reply) == (ExchangeState.NO_REPLY_YET, None)
    assert said.ticket is not None
    await b.say(str(a.session.key), "Done, sorry.", timeout=0)
    assert await waiting(a) == ["Done, sorry."]
    (late,) = await a.inbox.peek()
    assert said.message_id is not None
    assert late.message.thread == said.message_id
    await read(a)
    assert (await a.resume(said.ticket, timeout=0)).text == "Done, sorry."
    assert await waiting(a) == []
    assert (await exchanged(a, b, "And now lint it", "Linted")).round == 2  # the negotiation continues


async def test_a_resumed_wait_returns_the_late_reply(world: World) -> None:
    a, b = await pair(world)
    negotiations = world.services.negotiations
    nothing = await negotiations.wait(b.session, a.identity, LIMIT_S)
    assert nothing.state is ExchangeState.ENDED
    asking = asyncio.create_task(a.say(str(b.session.key), "Format this code", timeout=LIMIT_S))
    await world.is_owed(a)
    await give_up(asking)
    still = await negotiations.wait(b.session, a.identity, 0)
    assert still.state is ExchangeState.NO_REPLY_YET
    remark = asyncio.create_task(a.say(str(b.session.key), "With Prettier, please", timeout=LIMIT_S))
    await arrived(world, b, "With Prettier, please")
    await b.say(str(a.session.key), "Done", timeout=0)
    said = await came(remark)
    assert said.reply is not None
    assert (said.reply.text, said.round) == ("Done", 1)  # a remark is no round
    assert await waiting(a) == []


async def test_an_answer_with_its_own_subject_still_counts_as_the_answer(world: World) -> None:
    a, b = await pair(world)
    assert (await exchanged(a, b, "Format this code", "Formatted")).round == 1
    asking = asyncio.create_task(a.say(str(b.session.key), "And now lint it", timeout=LIMIT_S))
    question = await soon(b.inbox.next(timeout=LIMIT_S))
    assert question is not None
    await b.reply(question.id, "Linted", subject="lint")
    assert (await came(asking)).round == 2
    after = await exchanged(a, b, "And test it", "Tested")
    assert after.round == 3
    assert len(await thread_of(world, after)) == 6


async def test_a_question_back_is_a_reply_and_its_answer_lets_the_other_side_go_on(world: World) -> None:
    a, b = await pair(world)
    asking = asyncio.create_task(a.say(str(b.session.key), "Format this code", timeout=LIMIT_S))
    first = await soon(b.inbox.next(timeout=LIMIT_S))
    assert first is not None
    await ask_back(world, b, first.message.id, "Which style?")
    said = await came(asking)
    assert said.reply is not None
    assert (said.state, said.reply.text, said.is_question) == (ExchangeState.REPLIED, "Which style?", True)
    assert await waiting(a) == []
    answering = asyncio.create_task(a.say(str(b.session.key), "Prettier", timeout=LIMIT_S))
    await arrived(world, b, "Prettier")
    await b.reply(first.message.id, "Done")
    done = await came(answering)
    assert done.reply is not None
    assert (done.reply.text, done.is_question) == ("Done", False)


async def test_ending_the_negotiation_before_the_reply_cancels_the_debt(world: World) -> None:
    a, b = await pair(world)
    asking = asyncio.create_task(a.say(str(b.session.key), "Format this code", timeout=LIMIT_S))
    await world.is_owed(a)
    await give_up(asking)
    await a.say(str(b.session.key), REPLY_SKIP)
    assert list(await b.owed()) == []
    assert await waiting(b) == [REPLY_SKIP]


async def test_two_sessions_of_one_agent_negotiate_like_two_agents(world: World) -> None:
    a = await world.process().join("coder")
    b = await world.process().join("coder", label="second")
    said = await exchanged(a, b, "Shall we split it?", "You take the parser.")
    assert said.reply is not None
    assert said.reply.sender.session == b.session.id
    assert (await exchanged(a, b, "And you?", "The printer.")).round == 2


async def test_an_agents_token_is_enough_to_negotiate_and_to_announce(world: World) -> None:
    await with_channel(world)
    by = world.services.identities
    tokens = [await by.create_token(AgentName(name), OWNER, register=True) for name in ("writer", "formatter")]
    a, b = [await world.process().join(token=token) for token in tokens]
    asking = asyncio.create_task(
        a.say(str(b.session.key), "Format this code", timeout=LIMIT_S, callback=(FEISHU, USER))
    )
    assert await soon(b.inbox.next(timeout=LIMIT_S)) is not None
    await b.say(str(a.session.key), REPLY_SKIP, timeout=0)
    assert (await came(asking)).ending is NegotiationEnding.SKIPPED
    await b.say(str(a.session.key), "Formatted.", timeout=0)
    assert await posted(world) == [(USER, "formatter", "Formatted.")]


async def test_a_refused_message_is_returned_with_its_reason(world: World) -> None:
    a = await world.process().join("writer")
    b = await world.process().join("formatter", card={"allow_from": ["boss"]})
    for timeout in (0, LIMIT_S):
        said = await a.say(str(b.session.key), "Format this code", timeout=timeout)
        assert said.state is ExchangeState.FAILED
        assert "formatter takes no mail from writer (allow_from)" in said.reason
    assert await waiting(b) == []


async def test_a_forged_mark_announces_nothing(world: World) -> None:
    a, b = await pair(world)
    await with_channel(world)
    mark = {"negotiation": "announce"}
    receipt = await a.send("formatter", "2 + 2?", kind="request", round=1, metadata=mark, callback=(FEISHU, USER))
    await b.reply(receipt.message_id, "4")
    assert await posted(world) == []
    assert await waiting(a) == ["4"]
    for broken in ({"negotiation": 3}, {"negotiation": "dance"}, {"negotiation": {"step": "end"}}):
        receipt = await a.send("formatter", "2 + 2?", kind="request", metadata=broken)
        await b.reply(receipt.message_id, "4")
    delivery = (await world.deliveries(parse_message_id(receipt.message_id)))[0]
    assert delivery.state is DeliveryState.HANDLED
