"""The peers' wire: programs that know only agent.inbox.<uuid> and its payload talk with sessions of a space."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from nats.aio.client import Client

import covey
from covey.adapters.nats.client.requests import ask, subscribed
from covey.core.attention.styles import peers_block
from covey.core.formats.peers import MAX_BODY_BYTES, inbox_subject
from covey.core.identity import Grade
from covey.core.names import parse_session_id
from covey.surfaces.python.inbox import Delivery
from covey.surfaces.python.member import Member
from tests.nats.kept import until_kept
from tests.nats.servers import NatsServer, one_node

LIMIT_S = 20.0
PLAIN = Path(__file__).parent / "plain_peer.py"
SENT_AT = "2026-04-30T14:00:00+00:00"


@pytest.fixture
def url(place: str, tmp_path: Path) -> str:
    return f"nats://{place}?cache={tmp_path / 'here'}"


@asynccontextmanager
async def plain(server: NatsServer) -> AsyncGenerator[Client]:
    """A connection of a program that knows nothing of Covey."""
    client = Client()
    await client.connect(server.url)
    try:
        yield client
    finally:
        await client.close()


def payload(**fields: Any) -> bytes:
    known = {"from_agent_id": "alien", "from_goal_id": str(uuid4()), "to_agent_id": "coder", "body": "hello"}
    return json.dumps({**known, "sent_at": SENT_AT, **fields}).encode()


async def first(member: Member) -> Delivery:
    delivery = await member.inbox.next(LIMIT_S)
    assert delivery is not None
    return delivery


@pytest.mark.requirement("peers.wire.subject", "peers.wire.payload")
async def test_a_plain_program_writes_to_a_live_session_and_receives_the_answer(server: NatsServer, url: str) -> None:
    async with covey.open(url) as space:
        me = await space.join("coder")
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(PLAIN), server.url, "alien", me.session.id, "ready for handoff", stdout=subprocess.PIPE
        )
        delivery = await first(me)
        assert delivery.text == "ready for handoff"
        assert (delivery.sender.agent, delivery.sender.grade) == ("alien", Grade.CLAIMED)
        toolbox = me.tools("peers")
        said = json.loads(
            (await toolbox.call("send_to_peer", {"to": delivery.sender.session, "message": "got it"})).text
        )
        assert said == {"delivered_to": [delivery.sender.session], "unreachable_reasons": []}
        out, _ = await asyncio.wait_for(process.communicate(), LIMIT_S)
    heard = json.loads(out)
    assert (heard["from_agent_id"], heard["body"]) == ("coder", "got it")
    assert heard["from_goal_id"] == me.session.id
    assert heard["sent_at"].endswith("+00:00")
    assert "correlation_id" not in heard


def test_the_plain_program_knows_nothing_of_covey() -> None:
    lines = [line for line in PLAIN.read_text().splitlines() if line.strip()]
    assert len(lines) <= 10
    assert "covey" not in PLAIN.read_text().lower()


async def test_the_first_session_of_a_server_receives_messages_from_the_first_moment(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as fresh:
        async with plain(fresh) as broker, covey.open(f"{fresh.url}/team?cache={tmp_path / 'here'}") as space:
            me = await space.join("coder")
            await broker.publish(f"agent.inbox.{me.session.id}", payload())
            assert (await first(me)).text == "hello"


async def test_sessions_can_join_on_a_server_where_another_stream_has_these_subjects(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with one_node(tmp_path / "server") as fresh:
        async with plain(fresh) as broker, covey.open(f"{fresh.url}/team?cache={tmp_path / 'here'}") as space:
            await ask(broker, "STREAM.CREATE.OTHERS", {"name": "OTHERS", "subjects": ["agent.>"]}, LIMIT_S)
            with caplog.at_level("DEBUG", "covey"):
                assert (await space.join("coder")).name == "coder"
    assert "subjects overlap" in caplog.text


@pytest.mark.requirement("peers.wire.correlation")
async def test_a_correlation_id_is_passed_in_both_directions_and_only_if_there_is_one(
    server: NatsServer, url: str
) -> None:
    correlation, goal = str(uuid4()), str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        heard = await subscribed(broker, inbox_subject(parse_session_id(goal)))
        await broker.flush()
        await broker.flush()  # the first flush overtakes the data that the client still buffers
        await broker.publish(f"agent.inbox.{me.session.id}", payload(correlation_id=correlation, from_goal_id=goal))
        delivery = await first(me)
        assert delivery.message.correlation_id == correlation
        tools = me.tools("peers")
        await tools.call("send_to_peer", {"to": goal, "message": "yes", "correlation_id": correlation})
        await tools.call("send_to_peer", {"to": goal, "message": "no"})
        told = [json.loads((await heard.next_msg(LIMIT_S)).data) for _ in range(2)]
    assert told[0]["correlation_id"] == correlation
    assert "correlation_id" not in told[1]


GARBAGE = [
    ("agent.inbox.x", payload()),
    ("agent.inbox.{goal}.more", payload()),
    ("agent.inbox", b"{}"),
    ("agent.inbox.{goal}", b""),
    ("agent.inbox.{goal}", b"\xff\xfe"),
    ("agent.inbox.{goal}", b"[" * 100_000),
    ("agent.inbox.{goal}", b'"text"'),
    ("agent.inbox.{goal}", b"{}"),
    ("agent.inbox.{goal}", payload(body="")),
    ("agent.inbox.{goal}", payload(body=7)),
    ("agent.inbox.{goal}", payload(body="\ud800")),
    ("agent.inbox.{goal}", payload(body="x" * (MAX_BODY_BYTES + 1))),
    ("agent.inbox.{goal}", payload(from_agent_id=None)),
    ("agent.inbox.{goal}", payload(from_goal_id="me")),
    ("agent.inbox.{goal}", payload(sent_at="yesterday")),
    ("agent.inbox.{goal}", payload(sent_at="2026-04-30T14:00:00")),
    ("agent.inbox.{goal}", payload(correlation_id="7")),
    ("agent.inbox.{goal}", payload(to_agent_id=None)),
]


@pytest.mark.requirement("peers.receive.garbage")
async def test_garbage_is_dropped_with_a_debug_line_and_the_receiver_continues(
    server: NatsServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "covey")
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        for subject, data in GARBAGE:
            await broker.publish(subject.format(goal=me.session.id), data)
        await broker.publish(f"agent.inbox.{me.session.id}", payload(body="good", unknown={"field": [1]}))
        assert (await first(me)).text == "good"
        assert len(await me.inbox.peek()) == 1
    lines = [record for record in caplog.records if record.name == "covey"]
    # `agent.inbox` alone is no inbox, and has no listener.
    assert len([line for line in lines if line.levelno == logging.DEBUG]) == len(GARBAGE) - 1
    assert not [line for line in lines if line.levelno > logging.DEBUG]


@pytest.mark.requirement("peers.receive.on-demand")
async def test_messages_sent_before_a_session_joined_are_there_when_it_joins(server: NatsServer, url: str) -> None:
    goal = str(uuid4())
    async with plain(server) as broker:
        await broker.publish(f"agent.inbox.{uuid4()}", payload(body="for somebody else"))
        async with covey.open(url) as space:
            await space.join("coder")  # creates the stream
            await asyncio.wait_for(until_kept(broker, goal, payload(body="early")), LIMIT_S)
            late = await space.join("coder", session_id=goal)
            assert (await first(late)).text == "early"


async def test_several_programs_of_a_space_accept_each_message_once(server: NatsServer, url: str, place: str) -> None:
    other = f"nats://{place}?cache={Path(url.partition('cache=')[2]).parent / 'there'}"
    async with covey.open(url) as one, covey.open(other) as two, plain(server) as broker:
        me = await one.join("coder")
        also = await two.join("critic")
        for n in range(20):
            await broker.publish(f"agent.inbox.{(me, also)[n % 2].session.id}", payload(body=str(n)))
        await until(me, "18")
        await until(also, "19")
        assert one.services.bridge is not None
        assert two.services.bridge is not None
        assert [*await one.services.bridge.carry(), *await two.services.bridge.carry()] == []
        assert [delivery.text for delivery in await me.inbox.peek()] == [str(n) for n in range(0, 20, 2)]
        assert [delivery.text for delivery in await also.inbox.peek()] == [str(n) for n in range(1, 20, 2)]


async def until(member: Member, text: str) -> None:
    """Return when a message has arrived."""
    async with asyncio.timeout(LIMIT_S):
        async for delivery in member.inbox:
            if delivery.text == text:
                return


async def test_an_inbox_with_the_peers_policy_keeps_the_newest_64(server: NatsServer, url: str) -> None:
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder", inbox_overflow="first-in-first-out")
        for n in range(70):
            await broker.publish(f"agent.inbox.{me.session.id}", payload(body=str(n)))
        await broker.flush()
        await until(me, "69")
        texts = [delivery.text for delivery in await me.inbox.peek()]
    assert len(texts) <= 64
    assert texts[-1] == "69"


async def test_the_rules_of_the_card_apply_to_foreign_programs(
    server: NatsServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "covey")
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder", card={"allow_from": ["friend"]})
        await broker.publish(f"agent.inbox.{me.session.id}", payload(body="no"))
        await broker.publish(f"agent.inbox.{me.session.id}", payload(body="yes", from_agent_id="friend"))
        assert (await first(me)).text == "yes"
    assert "refused a message from alien" in caplog.text


async def test_messages_of_this_space_are_not_accepted_as_foreign_ones(url: str) -> None:
    goal = str(uuid4())
    async with covey.open(url) as space:
        me: Member = await space.join("coder")
        await me.tools("peers").call("send_to_peer", {"to": goal, "message": "hello?"})
        late = await space.join("coder", session_id=goal)
        assert (await first(late)).text == "hello?"
        bridge = space.services.bridge
        assert bridge is not None
        await bridge.carry()
        assert len(await late.inbox.peek()) == 1


ENVELOPE = {"id": "7a3b2f00-1111-4222-8333-444455556666", "timestamp": SENT_AT, "source": "alien", "session_id": None}


def enveloped(goal: str, **fields: Any) -> bytes:
    inner = json.loads(payload(**fields))
    return json.dumps({**ENVELOPE, "topic": f"agent.inbox.{goal}", "payload": inner}).encode()


async def listening(broker: Client, goal: str) -> Any:
    """Return the subscription of a foreign program to its own inbox, known to the server."""
    heard = await subscribed(broker, inbox_subject(parse_session_id(goal)))
    await broker.flush()
    await broker.flush()  # the first flush overtakes the data that the client still buffers
    return heard


async def told(heard: Any) -> Any:
    return json.loads((await heard.next_msg(LIMIT_S)).data)


async def send_to_peer(me: Member, to: str, message: str) -> Any:
    return json.loads((await me.tools("peers").call("send_to_peer", {"to": to, "message": message})).text)


@pytest.mark.requirement("trust.foreign.reply")
async def test_a_model_sees_the_goal_of_a_foreign_program_and_answers_by_its_name(server: NatsServer, url: str) -> None:
    goal = str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        heard = await listening(broker, goal)
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_goal_id=goal))
        pending = await me.pending(timeout=LIMIT_S)
        assert f'goal="{goal}"' in peers_block(pending)
        listed = json.loads((await me.tools("peers").call("list_peers")).text)
        assert [peer["agent_id"] for peer in listed["peers"]] == ["alien"]
        assert await send_to_peer(me, "alien", "got it") == {"delivered_to": [goal], "unreachable_reasons": []}
        said = await told(heard)
    assert (said["from_agent_id"], said["to_agent_id"], said["body"]) == ("coder", "alien", "got it")


async def test_a_reply_by_number_to_a_foreign_program_has_its_correlation_id(server: NatsServer, url: str) -> None:
    goal, correlation = str(uuid4()), str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        heard = await listening(broker, goal)
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_goal_id=goal, correlation_id=correlation))
        assert (await me.pending(timeout=LIMIT_S)).letters[0].goal == goal
        tools = me.tools("native")
        await tools.call("read_inbox")
        answer = await tools.call("send_message", {"reply_to": 1, "message": "forty-two"})
        assert not answer.is_error
        said = await told(heard)
    assert (said["body"], said["correlation_id"]) == ("forty-two", correlation)


@pytest.mark.requirement("trust.foreign.reply")
async def test_an_envelope_is_read_and_answered_in_an_envelope(server: NatsServer, url: str) -> None:
    goal = str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        heard = await listening(broker, goal)
        await broker.publish(f"agent.inbox.{me.session.id}", enveloped(me.session.id, from_goal_id=goal))
        assert (await first(me)).text == "hello"
        await send_to_peer(me, "alien", "wrapped")
        wrapped = await told(heard)
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_goal_id=goal, body="now without"))
        await until(me, "now without")
        await send_to_peer(me, goal, "bare")
        bare = await told(heard)
    assert wrapped.keys() == {"id", "timestamp", "topic", "source", "session_id", "payload"}
    assert (wrapped["topic"], wrapped["source"], wrapped["session_id"]) == (
        f"agent.inbox.{goal}",
        "coder",
        me.session.id,
    )
    assert wrapped["payload"]["body"] == "wrapped"
    assert bare["body"] == "bare"


async def test_the_time_that_a_foreign_program_names_is_kept_unless_it_is_in_the_future(
    server: NatsServer, url: str
) -> None:
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        await broker.publish(f"agent.inbox.{me.session.id}", payload())
        await broker.publish(f"agent.inbox.{me.session.id}", payload(sent_at="2999-01-01T00:00:00+00:00", body="soon"))
        kept = await first(me)
        await until(me, "soon")
        soon = (await me.inbox.peek())[-1]
    assert kept.message.created_at.isoformat() == SENT_AT
    assert soon.message.created_at.year < 2999


async def test_an_invalid_name_is_mapped_and_its_program_is_reached_by_either_name(
    server: NatsServer, url: str
) -> None:
    goal = str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        heard = await listening(broker, goal)
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_agent_id="kate.v2", from_goal_id=goal))
        assert (await first(me)).sender.agent == "kate-v2"
        for to in ("kate-v2", "kate.v2"):
            assert (await send_to_peer(me, to, to))["delivered_to"] == [goal]
            said = await told(heard)
            assert (said["to_agent_id"], said["body"]) == ("kate.v2", to)


async def test_a_name_that_no_agent_can_have_is_refused_with_one_warning(
    server: NatsServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        for name in ("no such name", "operator", "Operator", "...", "no such name"):
            await broker.publish(f"agent.inbox.{me.session.id}", payload(from_agent_id=name))
        await broker.publish(f"agent.inbox.{me.session.id}", payload(body="good"))
        assert (await first(me)).text == "good"
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 4
    assert all("from_agent_id" in line for line in warnings)


async def test_a_foreign_program_cannot_use_the_name_or_the_session_of_an_agent_here(
    server: NatsServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    goal = str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        critic = await space.join("critic")
        inbox = f"agent.inbox.{me.session.id}"
        await broker.publish(inbox, payload(from_agent_id="x", from_goal_id=critic.session.id, body="forged"))
        await broker.publish(inbox, payload(from_agent_id="critic", from_goal_id=goal, body="me too"))
        delivery = await first(me)
        assert (delivery.text, delivery.sender.agent, delivery.sender.session) == ("me too", "critic-wire", goal)
        assert (await send_to_peer(me, "critic", "for you"))["delivered_to"] == [critic.session.id]
        await broker.publish(inbox, payload(from_agent_id="other", from_goal_id=goal, body="stolen goal"))
        await broker.publish(inbox, payload(from_agent_id="critic", from_goal_id=goal, body="last"))
        await until(me, "last")
        assert [delivery.text for delivery in await me.inbox.peek()] == ["me too", "last"]
    refused = [line for line in caplog.messages if "is a session of" in line]
    assert len(refused) == 2


async def test_an_agent_that_joins_takes_its_name_from_a_foreign_program(server: NatsServer, url: str) -> None:
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        await broker.publish(f"agent.inbox.{me.session.id}", payload())
        await first(me)
        alien = await space.join("alien")
        assert (await send_to_peer(me, "alien", "hello"))["delivered_to"] == [alien.session.id]


async def test_messages_between_foreign_programs_are_ignored(server: NatsServer, url: str) -> None:
    one, other = str(uuid4()), str(uuid4())
    async with covey.open(url) as space, plain(server) as broker:
        me = await space.join("coder")
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_agent_id="one", from_goal_id=one))
        await broker.publish(f"agent.inbox.{one}", payload(from_agent_id="two", from_goal_id=other, body="between us"))
        await broker.publish(f"agent.inbox.{me.session.id}", payload(from_agent_id="one", from_goal_id=one, body="end"))
        await until(me, "end")
        assert [agent.name for agent in await space.agents()] == ["coder", "one"]
