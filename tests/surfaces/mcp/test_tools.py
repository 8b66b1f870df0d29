"""Tools over MCP, in the protocols of 2025 and 2026: lists, results and errors."""

import pytest
from mcp_types import CallToolResult

from covey.core.names import AgentName
from covey.toolkits.catalogue import HOMES, toolkit
from tests.surfaces.mcp.desk import ERAS, Desk, Era, text_of


@pytest.mark.parametrize("era", ERAS)
async def test_the_tools_of_the_toolkit_are_listed(desk: Desk, era: Era) -> None:
    async with desk.client("coder", era=era) as client:
        listed = (await client.list_tools()).tools
    assert [(tool.name, tool.description) for tool in listed] == [
        (tool.name, tool.description) for tool in toolkit("native").tools
    ]
    assert all(tool.input_schema["type"] == "object" for tool in listed)


@pytest.mark.parametrize("kit", HOMES)
async def test_every_toolkit_can_be_served(desk: Desk, kit: str) -> None:
    async with desk.client("coder", kit=kit) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in toolkit(kit).tools]


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_is_text_and_the_same_as_structured_data(desk: Desk, era: Era) -> None:
    async with desk.client("coder", era=era) as coder, desk.client("critic", era=era):
        result = await coder.call_tool("list_agents", {})
    assert text_of(result) == "You are coder.\nHere now:\n- critic"
    assert result.structured_content is not None
    assert result.structured_content["text"] == text_of(result)
    assert result.structured_content["you"] == "coder"
    assert result.structured_content["agents"][0]["name"] == "critic"


@pytest.mark.parametrize("name", ["claude-code", "codex-mcp-client"])
async def test_a_client_that_would_hide_the_text_gets_no_structured_data(desk: Desk, name: str) -> None:
    async with desk.client("coder", name=name) as coder:
        result = await coder.call_tool("list_agents", {})
    assert text_of(result).startswith("You are coder.")
    assert result.structured_content is None


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("send_mesage", {"to": "critic", "message": "hi"}, "did you mean send_message"),
        ("send_message", {"to": "critic", "mesage": "hi"}, "did you mean message"),
        ("send_message", {"to": "critic"}, "needs it"),
        ("send_message", {"to": "critik", "message": "hi"}, "critic"),
        ("send_message", {"to": 7, "message": "hi"}, "use a text"),
        ("read_inbox", {"message": "no number"}, "use the number of a message"),
        ("ask_agent", {"ticket": "nonsense"}, "copy it exactly"),
    ],
)
async def test_a_wrong_call_is_an_error_result_and_no_protocol_error(
    desk: Desk, era: Era, tool: str, arguments: dict[str, object], told: str
) -> None:
    async with desk.client("coder", era=era) as coder, desk.client("critic", era=era):
        result = await coder.call_tool(tool, arguments)
    assert result.is_error
    assert told in text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_wait_that_timed_out_is_resumed_with_its_ticket(desk: Desk, era: Era) -> None:
    async with desk.client("coder", era=era) as coder, desk.client("critic", era=era) as critic:
        asked = await coder.call_tool("ask_agent", {"to": "critic", "question": "Is it done?", "wait": 0})
        ticket = _data(asked)["ticket"]
        assert not asked.is_error
        assert f'ask_agent(ticket="{ticket}")' in text_of(asked)
        assert "Is it done?" in text_of(await critic.call_tool("list_agents", {}))
        await critic.call_tool("send_message", {"reply_to": 1, "message": "Nearly."})
        answered = await coder.call_tool("ask_agent", {"ticket": ticket, "wait": 25})
    assert _data(answered)["outcome"] == "replied"
    assert "Nearly." in text_of(answered)


async def test_a_session_that_the_operator_ended_is_replaced_by_a_new_one(desk: Desk) -> None:
    async with desk.client("coder") as coder:
        directory = desk.world.services.directory
        (first,) = (await directory.agent(AgentName("coder"))).sessions
        await directory.leave(await desk.world.operator(), session_id=first.id)
        assert not (await coder.call_tool("list_agents", {})).is_error
        (second,) = (await directory.agent(AgentName("coder"))).sessions
    assert first.id != second.id


def _data(result: CallToolResult) -> dict[str, str]:
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.requirement("peers.approvals")
@pytest.mark.parametrize("era", ERAS)
async def test_an_approval_is_asked_for_and_decided_over_mcp(desk: Desk, era: Era) -> None:
    async with desk.client("coder", kit="peers", era=era) as coder, desk.client("lead", kit="peers", era=era) as lead:
        request = {"to": "lead", "kind": "plan", "message": "1. the parser", "wait": 0}
        waits = await coder.call_tool("request_approval", request)
        assert waits.structured_content is not None
        assert waits.structured_content["decision"] == "waiting"
        seen = text_of(await lead.call_tool("list_peers", {}))
        assert "decide_approval(request=1, approve=true or false" in seen
        decided = await lead.call_tool("decide_approval", {"request": 1, "approve": False, "reason": "the tests first"})
        assert not decided.is_error
        ends = await coder.call_tool("request_approval", {"ticket": waits.structured_content["ticket"]})
    assert ends.structured_content is not None
    assert (ends.structured_content["decision"], ends.structured_content["reason"]) == ("rejected", "the tests first")
