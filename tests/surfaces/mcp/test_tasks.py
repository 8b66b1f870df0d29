"""Tasks over MCP: a model sees the tasks of its agent, each in one client only, and reports their progress."""

import asyncio

import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.surfaces.commands import Folder
from tests.surfaces.mcp.desk import ERAS, Desk, Era, text_of
from tests.surfaces.mcp.test_stdio import server_in


def data(result: CallToolResult) -> dict[str, object]:
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kit", ["native", "mailbox"])
async def test_a_task_is_shown_at_the_end_of_a_result_and_completed(desk: Desk, kit: str, era: Era) -> None:
    async with desk.client("lead", kit=kit, era=era) as lead, desk.client("coder", kit=kit, era=era) as coder:
        wish = {"text": "sort"} if kit == "native" else {"parts": [{"type": "text", "text": "sort"}]}
        delegated = await lead.call_tool("delegate_task", {"to": "coder", **wish})
        assert not delegated.is_error
        shown = text_of(await coder.call_tool("list_agents", {}))
        assert "#1 task from lead (session)" in shown
        assert "[update_task(task=1, state=…)" in shown
        assert "<covey-mail" not in text_of(await coder.call_tool("list_agents", {})), "it is shown once"
        done = {"text": "sorted"} if kit == "native" else {"parts": [{"type": "text", "text": "sorted"}]}
        assert not (await coder.call_tool("update_task", {"task": 1, "state": "completed", **done})).is_error
        told = text_of(await lead.call_tool("list_agents", {}))
        for line in ("is accepted", "is working", "is completed", "  sorted"):
            assert line in told


async def test_only_one_of_two_clients_of_an_agent_is_shown_a_task(desk: Desk) -> None:
    async with desk.client("lead") as lead, desk.client("coder") as first, desk.client("coder") as second:
        await lead.call_tool("delegate_task", {"to": "coder", "text": "sort"})
        results = await asyncio.gather(*(one.call_tool("list_agents", {}) for one in (first, second)))
        assert sorted("task from lead" in text_of(result) for result in results) == [False, True]


@pytest.mark.parametrize("kit", ["peers", "dialogue", "broadcast"])
async def test_a_client_without_tools_for_tasks_takes_none(desk: Desk, kit: str) -> None:
    async with desk.client("lead") as lead, desk.client("coder", kit=kit) as coder:
        task = data(await lead.call_tool("delegate_task", {"to": "coder", "text": "sort"}))["task"]
        tool = {"peers": "list_peers", "dialogue": "pending", "broadcast": "broadcast"}[kit]
        arguments = {"message": "here"} if kit == "broadcast" else {}
        assert "sort" not in text_of(await coder.call_tool(tool, arguments))
        async with desk.client("coder", kit=f"{kit},mailbox") as able:
            assert str(task) in text_of(await able.call_tool("list_agents", {}))


async def test_resources_show_the_tasks_of_the_session_and_take_none(desk: Desk) -> None:
    async with desk.client("lead") as lead, desk.client("coder") as coder:
        await lead.call_tool("delegate_task", {"to": "coder", "text": "sort"})
        before = await desk.world.position()
        assert "No messages wait." in str((await coder.read_resource("covey://inbox")).contents)
        assert await desk.world.position() == before
        await coder.call_tool("list_agents", {})
        assert "sort" in str((await coder.read_resource("covey://inbox")).contents)


async def test_two_real_servers_delegate_and_complete_a_task(folder: Folder) -> None:
    async with (
        Client(server_in(folder, "--agent", "lead")) as lead,
        Client(server_in(folder, "--agent", "coder", "--toolkit", "mailbox")) as coder,
    ):
        reads = asyncio.create_task(coder.call_tool("list_tasks", {}))
        assert '"tasks":[]' in text_of(await reads)
        wrong = await lead.call_tool("delegate_task", {"to": "codr", "text": "sort"})
        assert wrong.is_error
        assert "did you mean coder?" in text_of(wrong)
        task = data(await lead.call_tool("delegate_task", {"to": "coder", "text": "sort", "deadline_minutes": 5}))
        assert f"(id {task['task']})" in text_of(await coder.call_tool("list_agents", {}))
        parts = [{"type": "text", "text": "sorted"}]
        await coder.call_tool("update_task", {"task": 1, "state": "completed", "parts": parts})
        told = text_of(await lead.call_tool("read_inbox", {"wait": 20}))
        assert f"task {task['task']} of coder is completed\n  sorted" in told


async def test_a_waiting_client_is_woken_by_a_task(folder: Folder) -> None:
    async with (
        Client(server_in(folder, "--agent", "coder")) as coder,
        Client(server_in(folder, "--agent", "lead")) as lead,
    ):
        waits = asyncio.create_task(coder.call_tool("read_inbox", {"wait": 20}))
        await lead.call_tool("delegate_task", {"to": "coder", "text": "sort"})
        assert "#1 task from lead" in text_of(await waits)
