"""The sessions toolkit: children and negotiations by tool, and the answers that a model gets.

Children are real programs.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import covey
from covey import Card, Member, Space
from covey.core.channels.channel import console
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.core.work.run import RunState
from covey.toolkits.sessions import TOOLKIT
from covey.toolkits.tool import ToolAnswer
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import LIMIT_S, World, waiting

LIMIT = 20.0
ECHO = ("sh", "-c", 'printf "did: %s" "$1"', "sh", "{task}")
SLOW = ("sh", "-c", "echo so far; exec sleep 60")


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[Space]:
    """Open a space with two agents that are programs, and a lead."""
    async with covey.open(f"sqlite:{tmp_path}/.covey/covey.db", roots=[str(tmp_path)]) as space:
        owner = space.services.identities.claim(AgentName("owner"))
        for name, command in (("code-reviewer", ECHO), ("sleeper", SLOW)):
            await space.services.directory.register(AgentName(name), Card(command=command), owner)
        yield space
        assert await space.services.audit.check() == []


async def call(member: Member, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await use(member, "sessions", tool, **arguments)
    assert not answer.is_error, answer.text
    return {**fields(answer)}


async def result(lead: Member) -> Message:
    """Return the next message that arrives for the lead."""
    delivery = await lead.inbox.next(timeout=LIMIT)
    assert delivery is not None
    return delivery.message


@pytest.mark.requirement("sessions.spawn.params")
async def test_a_child_is_started_by_tool_and_its_key_returned_at_once(tmp_path: Path) -> None:
    (tmp_path / "pr.diff").write_text("+ a line")
    async with opened(tmp_path) as space:
        lead = await space.join("lead")
        spawned = await call(
            lead,
            "sessions_spawn",
            task="Review PR #123",
            agent="code-reviewer",
            mode="run",
            thread=False,
            runTimeoutSeconds=300,
            attachments=[str(tmp_path / "pr.diff")],
            label="review",
        )
        assert spawned["status"] == "accepted"
        assert spawned["childSessionKey"].startswith("agent:code-reviewer:subagent:")
        view = await space.services.runs.view(spawned["runId"])
        assert (str(view.run.key), view.run.label, view.run.time_limit) == (spawned["childSessionKey"], "review", 300)
        message = await result(lead)
        assert message.text == "did: Review PR #123"
        assert spawned["ticket"] == f"{message.in_reply_to}@code-reviewer"


@pytest.mark.requirement("sessions.spawn.params", "sessions.mode.session")
async def test_a_child_in_session_mode_needs_a_thread_and_can_be_addressed_by_its_label(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead")
        told = await refusal(lead, "sessions", "sessions_spawn", task="t", agent="code-reviewer", mode="session")
        assert "mode session needs thread=true" in told
        await space.services.channels.add(console(AgentName("chat")), lead.identity)
        wish = {"task": "Review", "agent": "code-reviewer", "mode": "session", "thread": True, "label": "security"}
        spawned = await call(lead, "sessions_spawn", **wish)
        assert spawned["thread"] == {"channel": "chat", "id": "security"}
        assert (await result(lead)).text == "did: Review"
        said = await call(lead, "sessions_send", label="security", message="Check security", timeoutSeconds=LIMIT)
        assert (said["status"], said["reply"], said["round"]) == ("ok", "did: Check security", 1)
        assert said["runId"] == spawned["runId"]
        again = await call(lead, "sessions_send", sessionKey=spawned["childSessionKey"], message="And the tests")
        assert (again["reply"], again["round"]) == ("did: And the tests", 2)
        history = await call(lead, "sessions_history", label="security")
        assert [entry["text"] for entry in history["messages"]][-4:] == [
            "Check security",
            "did: Check security",
            "And the tests",
            "did: And the tests",
        ]
        stopped = await call(lead, "sessions_stop", label="security", reason="enough")
        assert (stopped["status"], stopped["reason"]) == ("stopped", "enough")
        told = await refusal(lead, "sessions", "sessions_send", label="security", message="hello?")
        assert "no live session security" in told
        assert "sessions_list" in told


async def test_children_are_listed_stopped_and_their_history_read_after_their_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead")
        slow = await call(lead, "sessions_spawn", task="Wait", agent="sleeper", label="nap")
        listed = (await call(lead, "sessions_list"))["sessions"]
        assert {entry["sessionKey"] for entry in listed} == {str(lead.session.key), slow["childSessionKey"]}
        (child,) = [entry for entry in listed if "runId" in entry]
        assert (child["label"], child["status"], child["mode"]) == ("nap", "running", "run")
        assert [entry["sessionKey"] for entry in listed if entry.get("isYou")] == [str(lead.session.key)]
        stopped = await call(lead, "sessions_stop", sessionKey=slow["childSessionKey"])
        assert stopped["status"] == RunState.STOPPED
        history = await call(lead, "sessions_history", label="nap", limit=1)
        assert history["earlier"] == 1
        assert (history["messages"][0]["from"], "so far" in history["messages"][0]["text"]) == ("sleeper", True)
        (ended,) = (await call(lead, "sessions_list", ended=True))["ended"]
        assert (ended["runId"], ended["status"]) == (slow["runId"], "stopped")


@pytest.mark.requirement("sessions.spawn.limits")
async def test_a_refused_spawn_is_an_answer_that_names_the_limit(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead", card=Card(max_children=1, allow_spawn=("sleeper",)))
        told = await refusal(lead, "sessions", "sessions_spawn", task="t", agent="code-reviewer")
        assert "allow_spawn on the card of lead allows sleeper" in told
        await call(lead, "sessions_spawn", task="t", agent="sleeper")
        told = await refusal(lead, "sessions", "sessions_spawn", task="t", agent="sleeper")
        assert "max_children" in told or "1" in told
        told = await refusal(lead, "sessions", "sessions_spawn", task="t", agent="slepeer")
        assert "sleeper" in told
        for wrong in ({"task": " "}, {"task": "t", "runTimeoutSeconds": -1}, {"task": "t", "mode": "forever"}):
            assert await refusal(lead, "sessions", "sessions_spawn", **wrong)
        told = await refusal(lead, "sessions", "sessions_stop", sessionKey="agent:lead:main")
        assert "it is not a child" in told


async def replied(world: World, b: Member, text: str, a: Member, **reply: Any) -> ToolAnswer:
    """Let a model read its new message, and reply with the same tool."""
    async with asyncio.timeout(LIMIT_S):
        pending = await b.pending(timeout=LIMIT_S, **b.tools("sessions").showing)
    (letter,) = pending.letters
    assert letter.text == text
    async with b.turn(**b.tools("sessions").showing) as turn:
        turn.text()
        turn.responded("r")
    return await use(b, "sessions", "sessions_send", **reply)


@pytest.mark.requirement("sessions.send.wait", "sessions.rounds")
async def test_a_negotiation_by_tool_continues_with_the_same_session_and_ends_with_the_token(world: World) -> None:
    a, b = await world.join("writer", "formatter")
    tools = a.tools("sessions")
    asking = asyncio.create_task(
        tools.call("sessions_send", {"sessionKey": "agent:formatter:main", "message": "Format this code"})
    )
    answer = await replied(world, b, "Format this code", a, replyTo=1, message="Which style do you prefer?")
    assert fields(answer) == {
        "status": "delivered",
        "to": "writer",
        "round": 1,
        "note": "Your reply is delivered.",
    }
    first = fields(await asking)
    assert (first["status"], first["reply"], first["round"], first["rounds"]) == (
        "ok",
        "Which style do you prefer?",
        1,
        5,
    )
    assert "REPLY_SKIP" in first["note"]
    asking = asyncio.create_task(
        tools.call("sessions_send", {"sessionKey": "agent:formatter:main", "message": "Use Prettier"})
    )
    await replied(world, b, "Use Prettier", a, sessionKey="agent:writer:main", message="Done")
    second = fields(await asking)
    assert (second["reply"], second["round"]) == ("Done", 2)
    ended = await call(a, "sessions_send", sessionKey="agent:formatter:main", message="REPLY_SKIP")
    assert ended["status"] == "ended"
    assert await waiting(a) == []


@pytest.mark.requirement("sessions.send.late")
async def test_a_late_reply_arrives_in_the_inbox_or_at_a_resumed_wait(world: World) -> None:
    a, b = await world.join("writer", "formatter")
    asking = asyncio.create_task(a.say("agent:formatter:main", "Format this code", timeout=LIMIT_S))
    ticket = await world.is_owed(a)
    asking.cancel()
    await asyncio.wait([asking])
    still = await call(a, "sessions_send", sessionKey="agent:formatter:main", timeoutSeconds=0)
    assert (still["status"], still["ticket"]) == ("delivered_no_reply", ticket.id)
    assert "formatter has not read it" in still["note"]
    await use(b, "sessions", "sessions_send", replyTo=1, message="Done")
    late = await call(a, "sessions_send", sessionKey="agent:formatter:main")
    assert (late["status"], late["reply"]) == ("ok", "Done")
    assert await waiting(a) == []
    again = await call(a, "sessions_send", sessionKey="agent:formatter:main")
    assert again["reply"] == "Done"
    nothing = await call(b, "sessions_send", sessionKey="agent:writer:main")
    assert (nothing["status"], nothing["note"]) == ("ended", "You have asked this session nothing.")


async def test_a_late_reply_that_came_as_mail_is_replied_to_with_the_next_round(world: World) -> None:
    a, b = await world.join("writer", "formatter")
    asking = asyncio.create_task(a.say("agent:formatter:main", "Format this code", timeout=LIMIT_S))
    await world.is_owed(a)
    asking.cancel()
    await asyncio.wait([asking])
    await use(b, "sessions", "sessions_send", replyTo=1, message="Which style?")
    going_on = asyncio.create_task(use(a, "sessions", "sessions_send", replyTo=1, message="Prettier"))
    await replied(world, b, "Prettier", a, replyTo=2, message="Done")
    answer = fields(await going_on)
    assert (answer["status"], answer["reply"], answer["round"]) == ("ok", "Done", 2)


@pytest.mark.requirement("sessions.send.target")
async def test_wrong_names_are_refused_with_advice(world: World) -> None:
    a = (await world.join("lead"))[0]
    for _ in range(2):
        await world.process().join("worker", label="twin")
    cases = [
        ({"message": "hi"}, "give sessionKey or label"),
        ({"message": "hi", "sessionKey": "agent:worker:main", "label": "twin"}, "and not both"),
        ({"message": "hi", "label": "twin"}, "label twin names 2 sessions"),
        ({"message": "hi", "label": "nobody"}, "no live session nobody. sessions_list shows"),
        ({"message": "hi", "sessionKey": "worker"}, "use agent:NAME:main"),
        ({"message": "hi", "sessionKey": "agent:worker:main", "timeoutSeconds": -1}, "use 0 to deliver"),
        ({"replyTo": 7, "message": "hi"}, "7"),
        ({"message": "hi", "sessionKey": "agent:lead:main"}, "this is your own session"),
    ]
    for arguments, told in cases:
        assert told in await refusal(a, "sessions", "sessions_send", **arguments), arguments


def test_the_parameters_have_the_names_of_the_document() -> None:
    names = {tool.name: [parameter.name for parameter in tool.parameters] for tool in TOOLKIT.tools}
    assert names["sessions_spawn"] == ["task", "agent", "mode", "thread", "runTimeoutSeconds", "attachments", "label"]
    assert names["sessions_send"][:4] == ["sessionKey", "label", "message", "timeoutSeconds"]
