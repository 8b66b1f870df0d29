"""The broadcast toolkit: announcing, broadcasts, direct messages, replies by number and dismissals, with the example
workflow as a story."""

import pytest

from covey.core.attention.pending import AttentionOptions, Pending
from covey.core.attention.styles import HINT, broadcast_output
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.ledger.ticket import TicketState
from covey.surfaces.python.member import Member
from covey.toolkits.broadcast import TOOLKIT
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, waiting

TERMS = AttentionOptions(presentation=TOOLKIT.presentation, ways=TOOLKIT.ways)


async def fetch(world: World, member: Member) -> Pending:
    """Call a member's model: it sees the pending messages, and responds."""
    pending = await world.services.attention.take(member.identity, "fetch", TERMS)
    if pending.offer is not None:
        await member.confirm(pending.offer, "witnessed", "its answer")
    return pending


def seen(pending: Pending) -> list[tuple[int, str, str]]:
    """Return the messages that a model is shown."""
    return [(letter.number, letter.sender.agent, letter.text) for letter in pending.letters]


@pytest.mark.requirement("broadcast.send", "broadcast.reply", "broadcast.announce", "broadcast.persist")
async def test_the_example_workflow_runs_as_written(world: World) -> None:
    a, b = await world.process().join(), await world.process().join()
    assert (a.name, b.name) == ("agentA", "agentB")

    starting = await use(a, "broadcast", "broadcast", message="Starting frontend work")
    assert "Available agents: agentB" in starting.text.splitlines()
    asked = await use(a, "broadcast", "broadcast", send_to="agentB", message="Need the API schema")
    assert fields(asked)["sent_to"] == ["agentB"]

    starting = await use(b, "broadcast", "broadcast", message="Starting backend work")
    assert "Available agents: agentA" in starting.text.splitlines()
    assert seen(await fetch(world, b)) == [(1, "agentA", "Need the API schema")]
    reply = await use(b, "broadcast", "broadcast", reply_to=1, message="Here's the schema: {...}")
    assert "Marked as handled: #1 from agentA" in reply.text.splitlines()
    assert "> Need the API schema" in reply.text.splitlines()
    assert fields(reply)["sent_to"] == ["agentA"]
    assert not seen(await fetch(world, b))

    assert seen(await fetch(world, a)) == [(1, "agentB", "Here's the schema: {...}")]
    thanks = await use(a, "broadcast", "broadcast", reply_to=1, message="Got it, thanks!")
    assert "Marked as handled: #1 from agentB" in thanks.text.splitlines()
    assert fields(thanks)["sent_to"] == ["agentB"]
    assert not seen(await fetch(world, a))
    assert seen(await fetch(world, b)) == [(2, "agentA", "Got it, thanks!")]


@pytest.mark.requirement("broadcast.send")
async def test_a_broadcast_reaches_all_agents_and_with_send_to_only_one(world: World) -> None:
    a, b, c = await world.join("a", "b", "c")
    await a.set_status("here")
    everyone = await use(a, "broadcast", "broadcast", message="to all")
    one = await use(a, "broadcast", "broadcast", send_to="c", message="to c")
    assert fields(everyone)["sent_to"] == ["b", "c"]
    assert fields(one)["sent_to"] == ["c"]
    assert await waiting(b) == ["to all"]
    assert await waiting(c) == ["to all", "to c"]
    assert not await waiting(a)


@pytest.mark.requirement("broadcast.send")
async def test_the_result_lists_the_available_agents_and_their_status(world: World) -> None:
    a, b, c, gone = await world.join("a", "b", "c", "gone")
    await use(b, "broadcast", "broadcast", message="Building\nthe <login> form")
    await gone.leave()
    answer = await use(a, "broadcast", "broadcast", message="hello")
    assert answer.text.splitlines()[-2:] == ["Available agents: b, c", "- b: Building the &lt;login> form"]
    assert fields(answer)["agents"] == [
        {"name": "b", "status": "Building the &lt;login> form"},
        {"name": "c", "status": None},
    ]
    await c.leave()
    await b.leave()
    alone = await use(a, "broadcast", "broadcast", message="anyone?")
    assert fields(alone)["sent_to"] == []
    assert "No other agent is here yet" in alone.text
    assert alone.text.splitlines()[-1] == "Available agents: none"
    assert not alone.is_error


@pytest.mark.requirement("broadcast.reply")
async def test_a_reply_answers_and_closes_the_senders_request(world: World) -> None:
    a, b = await world.join("a", "b")
    request = await a.send("b", "What's the status on the API?", kind="request")
    answer = await use(b, "broadcast", "broadcast", reply_to=1, message="done")
    assert fields(answer)["handled"] == {"id": 1, "from": "a", "content": "What's the status on the API?"}
    ticket = await world.ticket(request.message_id, "b")
    assert ticket.state is TicketState.CLOSED
    (delivery,) = await a.inbox.peek()
    assert (delivery.text, delivery.message.kind, ticket.answer) == ("done", Kind.RESPONSE, delivery.id)


@pytest.mark.requirement("broadcast.reply")
async def test_replying_shows_that_the_message_was_read(world: World) -> None:
    a, b = await world.join("a", "b")
    receipt = await a.send("b", "hello")
    await b.offer("turn")
    await use(b, "broadcast", "broadcast", reply_to="#1", message="hi")
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.reason, delivery.grade) == (
        DeliveryState.HANDLED,
        "answered",
        EvidenceGrade.NAMED,
    )


@pytest.mark.requirement("broadcast.announce")
async def test_the_first_broadcast_sets_the_status_and_ends_the_hint(world: World) -> None:
    a, b = await world.join("a", "b")
    assert broadcast_output(await world.services.attention.look(b.identity, TERMS))["hint"] == HINT
    first = await use(b, "broadcast", "broadcast", message="Working on the parser")
    assert first.text == "This is your status now: the others see it beside your name.\nAvailable agents: a"
    assert not await waiting(a), "a status is not a message"
    await use(b, "broadcast", "broadcast", message="Half of it works")
    assert await waiting(a) == ["Half of it works"]
    assert "hint" not in broadcast_output(await world.services.attention.look(b.identity, TERMS))
    assert broadcast_output(await world.services.attention.look(a.identity, TERMS))["agents"] == [
        {"name": "b", "status": "Working on the parser"}
    ]


@pytest.mark.requirement("broadcast.announce")
async def test_a_first_broadcast_that_is_too_long_for_a_status_is_a_message_too(world: World) -> None:
    a, b = await world.join("a", "b")
    message = "long " * 100
    first = await use(b, "broadcast", "broadcast", message=message)
    assert "It is your status now, too." in first.text.splitlines()
    assert await waiting(a) == [message]
    status = (await world.services.directory.agent(b.name)).status
    assert status is not None
    assert message.startswith(status.rstrip("…"))
    assert len(status) <= 200


@pytest.mark.requirement("trust.private")
@pytest.mark.requirement("broadcast.announce")
@pytest.mark.parametrize("arguments", [{"send_to": "a"}, {"reply_to": 1}])
async def test_a_first_broadcast_to_one_agent_stays_between_the_two(world: World, arguments: dict[str, Json]) -> None:
    a, b, c = await world.join("a", "b", "c")
    await a.send("b", "What is the password?")
    first = await use(b, "broadcast", "broadcast", message="The password is sesame", **arguments)
    assert "status" not in first.text
    assert "The password is sesame" in await waiting(a)
    assert (await world.services.directory.agent(b.name)).status is None
    assert "sesame" not in str(broadcast_output(await world.services.attention.look(c.identity, TERMS)))
    assert broadcast_output(await world.services.attention.look(b.identity, TERMS))["hint"] == HINT


@pytest.mark.requirement("broadcast.announce")
async def test_a_broadcast_that_fails_announces_nothing(world: World) -> None:
    a, _b = await world.join("a", "b")
    await refusal(a, "broadcast", "broadcast", send_to="ghost", message="Working on the parser")
    assert (await world.services.directory.agent(a.name)).status is None


@pytest.mark.requirement("broadcast.persist")
async def test_a_message_stays_in_every_fetch_until_it_is_handled(world: World) -> None:
    a, b = await world.join("a", "b")
    await use(a, "broadcast", "broadcast", send_to="b", message="one")
    await use(a, "broadcast", "broadcast", send_to="b", message="two")
    for _ in range(3):
        assert seen(await fetch(world, b)) == [(1, "a", "one"), (2, "a", "two")]
    await refusal(b, "broadcast", "broadcast", reply_to=1, message="")
    assert await waiting(b) == ["one", "two"]
    await use(b, "broadcast", "broadcast", reply_to=1, message="fine")
    for _ in range(2):
        assert seen(await fetch(world, b)) == [(2, "a", "two")]
    dismissed = await use(b, "broadcast", "dismiss", id=2)
    assert dismissed.text == "Marked as handled: #2 from a"
    assert not seen(await fetch(world, b))


async def test_a_question_that_is_dismissed_stays_owed_and_says_so(world: World) -> None:
    a, b = await world.join("a", "b")
    request = await a.send("b", "well?", kind="request")
    dismissed = await use(b, "broadcast", "dismiss", id=1)
    assert dismissed.text == "Marked as handled: #1 from a. a still waits for an answer."
    assert (await world.ticket(request.message_id, "b")).state is TicketState.OPEN
    assert (await world.delivery(request.message_id)).reason == "dismissed"


@pytest.mark.requirement("broadcast.errors")
async def test_a_wrong_call_is_refused_with_the_possible_choices(world: World) -> None:
    a, b, _critic = await world.join("a", "b", "critic")
    await a.send("b", "hello")
    before = await world.position()
    for nothing in ({}, {"message": ""}, {"message": " \n"}, {"message": None}, {"reply_to": 1}):
        assert (await refusal(b, "broadcast", "broadcast", **nothing)).startswith("message is missing")
    assert "that is you" in await refusal(b, "broadcast", "broadcast", send_to="b", message="me")
    unknown = await refusal(b, "broadcast", "broadcast", send_to="critik", message="you")
    assert "did you mean critic?" in unknown
    assert "Known agents: a, critic." in unknown
    missing = await refusal(b, "broadcast", "broadcast", reply_to=7, message="yes")
    assert missing == "message #7 is not in your inbox. Waiting: #1 from a."
    elsewhere = await refusal(b, "broadcast", "broadcast", reply_to=1, send_to="critic", message="yes")
    assert "a reply to #1 goes to a by itself" in elsewhere
    assert "use a whole number" in await refusal(b, "broadcast", "broadcast", reply_to="first", message="yes")
    assert "not in your inbox" in await refusal(b, "broadcast", "dismiss", id=0)
    assert "dismiss needs it" in await refusal(b, "broadcast", "dismiss")
    assert await world.position() == before, "a wrong call does nothing"


@pytest.mark.requirement("broadcast.errors")
async def test_a_handled_number_is_distinguished_from_one_that_never_existed(world: World) -> None:
    a, b = await world.join("a", "b")
    await a.send("b", "hello")
    await use(b, "broadcast", "broadcast", reply_to=1, message="hi")
    again = await refusal(b, "broadcast", "broadcast", reply_to=1, message="hi again")
    assert again == "message #1 is handled already. Waiting: nothing."
    assert "handled already" in await refusal(b, "broadcast", "dismiss", id=1)


async def test_a_notice_of_the_space_can_only_be_dismissed(world: World) -> None:
    a = await world.process().join("a")
    b = await world.process().join("b", inbox_limit=1, inbox_overflow="evict-oldest")
    await a.send("b", "first?", kind="request")
    await a.send("b", "second?", kind="request")
    assert "a notice of the space itself" in await refusal(a, "broadcast", "broadcast", reply_to=1, message="oh")
    assert not (await use(a, "broadcast", "dismiss", id=1)).is_error
    assert await waiting(b) == ["second?"]


async def test_an_offline_agent_finds_the_message_when_it_is_back(world: World) -> None:
    a, b = await world.join("a", "b")
    await b.leave()
    assert fields(await use(a, "broadcast", "broadcast", send_to="b", message="for later"))["sent_to"] == ["b"]
    (back,) = await world.join("b")
    assert await waiting(back) == ["for later"]


async def test_a_recipient_that_refuses_the_message_is_named_in_the_answer(world: World) -> None:
    (a,) = await world.join("a")
    await world.process().join("closed", card={"allow_from": ["someone"]})
    told = await refusal(a, "broadcast", "broadcast", send_to="closed", message="hello")
    assert "closed did not get it: closed takes no mail from a (allow_from) (not-allowed)." in told


def test_broadcast_messages_are_shown_until_they_are_handled() -> None:
    assert TOOLKIT.presentation is Presentation.UNTIL_HANDLED
