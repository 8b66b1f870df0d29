"""The peers toolkit: the list of peers, six checks in order, a copy for every session, and broadcasts up to a limit."""

import json

import pytest

from covey.core.formats.peers import inbox_message, inbox_subject
from covey.core.identity import Identity
from covey.core.names import AgentName, parse_session_id
from covey.testing.fakes import numbered_uuid
from covey.toolkits.peers import (
    INBOX_SUBJECT_PREFIX,
    LIST_PEERS,
    MAX_BODY_BYTES,
    MAX_PEERS_AT_ONCE,
    MIN_BODY_CHARS,
    SEND_TO_PEER,
)
from covey.toolkits.tool import Caller, ToolAnswer
from covey.toolkits.toolbox import call
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, waiting

QUESTION = "7a3b2f00-0000-4000-8000-000000000001"


def claiming(world: World, name: str) -> Caller:
    """Return a caller with a claimed identity."""
    return Caller(world.services, Identity(AgentName(name)))


def reasons(answer: ToolAnswer) -> list[str]:
    """Return the reasons why no peer was reached."""
    assert fields(answer)["delivered_to"] == [], answer
    return fields(answer)["unreachable_reasons"]


@pytest.mark.requirement("peers.list.shape", "peers.list.reachable")
async def test_list_peers_shows_all_others_and_which_of_them_the_caller_may_write_to(world: World) -> None:
    coder = await world.process().join("coder", card={"allowed_delegates": ["researcher"]})
    await world.process().join("researcher", card={"description": "research agent"})
    await world.process().join("writer", card={"description": "writer agent"})
    answer = await use(coder, "peers", "list_peers")
    assert answer.data == {
        "peers": [
            {"agent_id": "researcher", "description": "research agent", "reachable": True},
            {"agent_id": "writer", "description": "writer agent", "reachable": False},
        ]
    }
    assert json.loads(answer.text) == answer.data
    assert not answer.is_error


@pytest.mark.requirement("peers.list.shape")
async def test_list_peers_takes_no_argument(world: World) -> None:
    (coder,) = await world.join("coder")
    assert LIST_PEERS.parameters == ()
    assert "list_peers takes no arguments" in await refusal(coder, "peers", "list_peers", verbose=True)
    assert not (await use(coder, "peers", "list_peers", verbose=None)).is_error


@pytest.mark.requirement("peers.list.reachable")
async def test_reachable_depends_on_the_allowed_delegates_and_not_on_liveness(world: World) -> None:
    coder, writer = await world.join("coder", "writer")
    await writer.leave()
    assert fields(await use(coder, "peers", "list_peers"))["peers"][0]["reachable"] is True


@pytest.mark.requirement("peers.list.no-directory")
async def test_a_caller_without_an_entry_in_the_directory_gets_an_empty_list(world: World) -> None:
    await world.join("coder")
    answer = await call(LIST_PEERS, claiming(world, "stranger"), {})
    assert answer.data == {"peers": [], "note": "this agent has no PeerDirectory configured"}


@pytest.mark.requirement("peers.send.shape")
async def test_send_to_peer_returns_the_sessions_that_got_the_message(world: World) -> None:
    coder, researcher = await world.join("coder", "researcher")
    answer = await use(
        coder, "peers", "send_to_peer", to="researcher", message="task #1 ready for handoff", correlation_id=QUESTION
    )
    assert answer.data == {"delivered_to": [researcher.session.id], "unreachable_reasons": []}
    assert json.loads(answer.text) == answer.data
    (delivery,) = await researcher.inbox.peek()
    assert (delivery.text, delivery.message.correlation_id) == ("task #1 ready for handoff", QUESTION)


@pytest.mark.requirement("peers.send.shape")
async def test_an_unknown_peer_is_an_unreachable_reason_and_nothing_is_sent(world: World) -> None:
    (coder,) = await world.join("coder")
    before = await world.position()
    answer = await use(coder, "peers", "send_to_peer", to="ghost", message="boo")
    assert answer.data == {"delivered_to": [], "unreachable_reasons": ["unknown agent_id `ghost`"]}
    assert await world.position() == before


async def test_a_misspelt_peer_is_reported_with_the_closest_name(world: World) -> None:
    coder, _ = await world.join("coder", "researcher")
    answer = await use(coder, "peers", "send_to_peer", to="reseacher", message="hi")
    assert reasons(answer) == ["unknown agent_id `reseacher`; did you mean `researcher`?"]


@pytest.mark.requirement("peers.send.gates")
async def test_the_six_checks_are_made_in_order(world: World) -> None:
    """Each call fails at its own check and all later ones, and reports the first."""
    coder = await world.process().join("coder", card={"allowed_delegates": ["coder", "ghost", "idler"]})
    idler, _writer = await world.join("idler", "writer")
    await idler.leave()
    too_long = "x" * (MAX_BODY_BYTES + 1)

    async def sent(**arguments: str) -> ToolAnswer:
        return await use(coder, "peers", "send_to_peer", **arguments)

    for missing in ({}, {"to": ""}, {"to": "  \n"}, {"to": " ", "message": too_long}):
        assert (await sent(**missing)).text.startswith("to is missing: send_to_peer needs it")
    for oneself in ({"to": "coder"}, {"to": " coder "}, {"to": "coder", "message": too_long}):
        assert "'coder' is not valid: that is you" in (await sent(**oneself)).text
    for empty in ({"to": "ghost"}, {"to": "ghost", "message": ""}):
        assert "message is missing" in (await sent(**empty)).text
    assert f"{len(too_long)} bytes; the limit is {MAX_BODY_BYTES}" in (await sent(to="ghost", message=too_long)).text
    assert reasons(await sent(to="ghost", message="x")) == ["unknown agent_id `ghost`"]
    assert reasons(await sent(to="writer", message="x")) == [
        "not allowed: `writer` is not among your allowed_delegates"
    ]
    assert reasons(await sent(to="idler", message="x")) == ["no live goals for agent_id `idler`"]


@pytest.mark.requirement("peers.send.gates")
async def test_an_unknown_peer_that_is_also_not_allowed_is_reported_as_unknown(world: World) -> None:
    coder = await world.process().join("coder", card={"allowed_delegates": []})
    assert reasons(await use(coder, "peers", "send_to_peer", to="ghost", message="x")) == ["unknown agent_id `ghost`"]


@pytest.mark.requirement("peers.limits")
async def test_the_limits_are_public_and_enforced(world: World) -> None:
    assert (INBOX_SUBJECT_PREFIX, MIN_BODY_CHARS, MAX_BODY_BYTES) == ("agent.inbox", 1, 65536)
    coder, peer = await world.join("coder", "peer")
    assert inbox_subject(peer.session.id) == f"agent.inbox.{peer.session.id}"
    shortest, longest = " " * MIN_BODY_CHARS, "é" * (MAX_BODY_BYTES // 2)
    for body in (shortest, longest):
        assert fields(await use(coder, "peers", "send_to_peer", to="peer", message=body))["delivered_to"]
    assert await waiting(peer) == [shortest, longest]
    for body in ("", longest + "x"):
        await refusal(coder, "peers", "send_to_peer", to="peer", message=body)


@pytest.mark.requirement("peers.send.fan-out")
async def test_every_session_of_a_peer_gets_the_message(world: World) -> None:
    coder, first, second = await world.join("coder", "peer", "peer")
    answer = await use(coder, "peers", "send_to_peer", to="peer", message="hi")
    assert answer.data == {"delivered_to": [first.session.id, second.session.id], "unreachable_reasons": []}
    assert await waiting(first) == await waiting(second) == ["hi"]


@pytest.mark.requirement("peers.send.fan-out")
async def test_a_session_that_refuses_the_message_does_not_stop_the_others(world: World) -> None:
    (coder,) = await world.join("coder")
    full = await world.process().join("peer", inbox_limit=1)
    roomy = await world.process().join("peer")
    await use(coder, "peers", "send_to_peer", to="peer", message="first")
    answer = fields(await use(coder, "peers", "send_to_peer", to="peer", message="second"))
    assert answer["delivered_to"] == [roomy.session.id]
    (reason,) = answer["unreachable_reasons"]
    assert reason.startswith(f"goal {full.session.id}: ")
    assert "inbox-full" in reason
    assert await waiting(roomy) == ["first", "second"]


@pytest.mark.requirement("peers.send.race")
async def test_a_peer_that_dies_after_it_was_listed_is_an_unreachable_reason(world: World) -> None:
    coder, peer = await world.join("coder", "peer")
    assert fields(await use(coder, "peers", "list_peers"))["peers"][0]["agent_id"] == "peer"
    world.kill(peer)
    answer = await use(coder, "peers", "send_to_peer", to="peer", message="still there?")
    assert reasons(answer) == ["no live goals for agent_id `peer`"]
    assert not answer.is_error


@pytest.mark.requirement("peers.send.provenance")
async def test_every_copy_names_the_agent_and_session_of_the_sender(world: World) -> None:
    coder, peer = await world.join("coder", "peer")
    await use(coder, "peers", "send_to_peer", to="peer", message="hi", correlation_id=QUESTION.upper())
    (delivery,) = await peer.inbox.peek()
    assert inbox_message(delivery.message, peer.name) == {
        "from_agent_id": "coder",
        "from_goal_id": coder.session.id,
        "to_agent_id": "peer",
        "body": "hi",
        "sent_at": "2026-01-01T00:00:00.000000+00:00",
        "correlation_id": QUESTION,
    }


@pytest.mark.requirement("peers.send.provenance")
async def test_a_sender_without_a_session_has_a_fresh_goal_each_time(world: World) -> None:
    (peer,) = await world.join("peer")
    for body in ("one", "two"):
        await call(SEND_TO_PEER, claiming(world, "stranger"), {"to": "peer", "message": body})
    first, second = [inbox_message(delivery.message, peer.name) for delivery in await peer.inbox.peek()]
    assert first["from_agent_id"] == second["from_agent_id"] == "stranger"
    assert parse_session_id(first["from_goal_id"]) != parse_session_id(second["from_goal_id"])
    assert "correlation_id" not in first


async def test_a_correlation_id_that_is_no_uuid_is_refused(world: World) -> None:
    coder, _peer = await world.join("coder", "peer")
    told = await refusal(coder, "peers", "send_to_peer", to="peer", message="hi", correlation_id="42")
    assert "correlation id '42' is not valid: use a uuid" in told


@pytest.mark.requirement("peers.broadcast.all")
async def test_a_star_reaches_all_live_peers_that_the_caller_may_write_to(world: World) -> None:
    coder = await world.process().join("coder", card={"allowed_delegates": ["a", "b", "gone"]})
    a, b, c, gone = await world.join("a", "b", "c", "gone")
    await gone.leave()
    answer = await use(coder, "peers", "send_to_peer", to="*", message="hello all")
    assert answer.data == {"delivered_to": [a.session.id, b.session.id], "unreachable_reasons": []}
    assert await waiting(a) == await waiting(b) == ["hello all"]
    assert not await waiting(c)
    assert not await waiting(coder)


@pytest.mark.requirement("peers.broadcast.all")
async def test_a_star_beyond_its_limit_reaches_no_peer(world: World) -> None:
    assert f"at most {MAX_PEERS_AT_ONCE} peers" in SEND_TO_PEER.description
    assert "expensive" in SEND_TO_PEER.description
    process = world.process()
    coder = await process.join("coder")
    peers = [await process.join(f"peer-{n}") for n in range(MAX_PEERS_AT_ONCE)]
    reached = fields(await use(coder, "peers", "send_to_peer", to="*", message="just fits"))["delivered_to"]
    assert len(reached) == MAX_PEERS_AT_ONCE
    await process.join("one-more")
    told = await refusal(coder, "peers", "send_to_peer", to="*", message="too many")
    assert f"at most {MAX_PEERS_AT_ONCE} peers, and there are {MAX_PEERS_AT_ONCE + 1}" in told
    assert await waiting(peers[0]) == ["just fits"]


async def test_a_star_without_live_peers_says_so(world: World) -> None:
    (coder,) = await world.join("coder")
    answer = await use(coder, "peers", "send_to_peer", to="*", message="anyone?")
    assert reasons(answer) == ["no live goals for any peer that you may reach"]


async def test_a_session_can_get_mail_before_it_joins(world: World) -> None:
    (coder,) = await world.join("coder")
    early = numbered_uuid(4711)
    answer = await use(coder, "peers", "send_to_peer", to=early, message="welcome")
    assert answer.data == {"delivered_to": [early], "unreachable_reasons": []}
    late = await world.process().join("late", session_id=early)
    assert await waiting(late) == ["welcome"]
