"""Siblings: a spawned agent starts another one beside it, under the same parent."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import covey
from covey import Card, Space
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from covey.core.work.run import RunState, Stage
from covey.ports.work import RunFilter
from covey.surfaces.python.member import Errand
from covey.toolkits.broadcast import MAIN_SESSION
from tests.scenarios.tools import fields, refusal, use

LIMIT = 20.0
GREET = 'import os, sys; print("hello from", os.environ["COVEY_AGENT"])'


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[Space]:
    async with covey.open(f"sqlite:{tmp_path}/.covey/covey.db") as space:
        yield space
        assert await space.services.audit.check() == []


@pytest.mark.requirement("broadcast.spawn")
async def test_a_child_starts_a_sibling_that_is_registered_before_it_runs_and_reports_to_their_parent(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead")
        coder = Card(command=(sys.executable, "-c", GREET))
        await space.services.directory.register(AgentName("coder"), coder, lead.identity)
        answers: list[dict[str, Any]] = []

        async def child(errand: Errand) -> str:
            answer = await use(errand.me, "broadcast", "spawn", prompt="Build the login form", description="Login UI")
            assert not answer.is_error, answer.text
            answers.append({**fields(answer), "text": answer.text})
            return "spawned one"

        first = await lead.spawn("Build the frontend", agent="coder", run=child)
        done = await first.result(timeout=LIMIT)
        assert done is not None
        assert done.text == "spawned one"
        (told,) = answers
        assert told["agent"] == "agentA"
        assert 'broadcast(send_to="agentA"' in told["text"]
        (sibling,) = [view.run for view in await space.services.runs.find(RunFilter(agent=AgentName("agentA")))]
        assert (sibling.parent, sibling.parent_agent, sibling.sibling_of) == (
            lead.session.id,
            "lead",
            first.record.session,
        )
        assert sibling.key.depth == first.key.depth
        assert sibling.description == "Login UI"
        delivery = await lead.inbox.next(timeout=LIMIT)
        assert delivery is not None
        assert (delivery.message.sender.agent, delivery.text) == ("agentA", "hello from agentA")
        events = [event async for event in space.journal()]
        known = next(e.position for e in events if e.action is Action.SESSION_JOINED and e.agent == "agentA")
        stages = {
            e.details["stage"]: e.position
            for e in events
            if e.details.get("run") == sibling.id and "stage" in e.details
        }
        assert known < stages[Stage.LAUNCH]


@pytest.mark.requirement("broadcast.spawn.refused")
async def test_a_main_session_is_refused_with_the_documented_reason(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead", card=Card(command=("true",)))
        told = await refusal(lead, "broadcast", "spawn", prompt="Help with X")
        assert MAIN_SESSION in told
        assert "spawn can only be called from subagent sessions" in told
        assert "say what the new agent is to do" in await refusal(lead, "broadcast", "spawn", prompt="  ")
        assert [view async for view in space.journal() if view.action is Action.RUN_MOVED] == []
        assert [agent.name for agent in await space.agents()] == ["lead"]


async def test_an_agent_is_started_by_the_native_tool_and_its_result_arrives_in_the_inbox(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead", card=Card(command=(sys.executable, "-c", GREET)))
        answer = await use(lead, "native", "spawn_agent", task="Say hello", label="greeter", minutes=1)
        assert not answer.is_error, answer.text
        assert "comes to your inbox by itself" in answer.text
        delivery = await lead.inbox.next(timeout=LIMIT)
        assert delivery is not None
        assert delivery.text == "hello from lead"
        view = await space.services.runs.view(fields(answer)["run"])
        assert (view.run.label, view.run.time_limit) == ("greeter", 60)
        assert view.run.state in (RunState.RUNNING, RunState.COMPLETED)
        assert "no agent nobody is known here" in await refusal(lead, "native", "spawn_agent", task="t", agent="nobody")
        assert "say what is to be done" in await refusal(lead, "native", "spawn_agent", task=" ")
