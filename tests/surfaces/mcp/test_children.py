"""Children over MCP: a client starts them, their results arrive, and the end of the server stops them."""

import json
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import covey
from covey import Card
from covey.core.names import AgentName
from covey.core.work.run import RunState
from covey.ports.work import RunFilter
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.desk import text_of

ECHO = Card(command=("sh", "-c", 'printf "did: %s" "$1"', "sh", "{task}"))
SLOW = Card(command=("sh", "-c", "exec sleep 60"))


def server_in(folder: Folder, agent: str) -> StdioServerParameters:
    words = ["-m", "covey", "mcp", "--toolkit", "sessions", "--agent", agent]
    return StdioServerParameters(command=sys.executable, args=words, env={**folder.environment}, cwd=folder.path)


@pytest.mark.requirement("sessions.spawn.params")
async def test_a_child_is_started_over_mcp_and_is_stopped_with_the_server(folder: Folder) -> None:
    folder.covey("init")
    async with covey.open(f"sqlite:{folder.path}/.covey/covey.db") as space:
        owner = space.services.identities.claim(AgentName("owner"))
        for name, card in (("reviewer", ECHO), ("sleeper", SLOW)):
            await space.services.directory.register(AgentName(name), card, owner)
        async with Client(server_in(folder, "lead")) as lead:

            async def call(tool: str, **arguments: Any) -> str:
                return text_of(await lead.call_tool(tool, arguments))

            spawned = json.loads((await call("sessions_spawn", task="Review", agent="reviewer")).split("\n")[0])
            assert spawned["childSessionKey"].startswith("agent:reviewer:subagent:")
            done = await space.services.spawning.result(spawned["runId"], owner._replace(agent=AgentName("lead")), 20)
            assert done is not None
            assert done.text == "did: Review"
            assert '"status":"accepted"' in await call("sessions_spawn", task="Wait", agent="sleeper")
        runs = [view.run for view in await space.services.runs.find(RunFilter())]
        assert {str(run.agent): run.state for run in runs}["sleeper"] is RunState.STOPPED
        assert all(run.has_ended for run in runs)
