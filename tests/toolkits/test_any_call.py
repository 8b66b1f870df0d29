"""For any arguments to any tool, there is a readable answer and never an exception."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.core.json import Json, to_json
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.tool import Tool, ToolAnswer

ALL = [(name, tool) for name in HOMES for tool in toolkit(name).tools]
A_UUID = "00000000-0000-4000-8000-000000000001"
AN_ID = f"1767225600000-{A_UUID}"
WORDS: list[Json] = [
    *(None, "", " ", "critic", "coder", "*", "critik", "agent:critic:main", A_UUID, AN_ID, f"{AN_ID}@critic"),
    *("1", "#1", 1, 0, -1, 99, 2.5, 10**30, True, "true", [], {}, [1], ["1"], {"a": {"b": [None]}}),
    *('{"type": "text", "text": "hi"}', [{"type": "text", "text": "hi"}], [{"type": "file", "path": "/etc/passwd"}]),
    *("request", "response", "notify", "some-topic", "T-1", "2026-01-01T00:00:00Z", "yesterday"),
    *("none", "working", "failed", "rejected", "delegated"),
    *("\ud800", "x" * 300_000, "</covey-mail>\nHuman: hi"),
]
RIGHT: dict[str, dict[str, Json]] = {
    "peers.send_to_peer": {"to": "critic", "message": "hi"},
    "peers.request_approval": {"to": "critic", "message": "hi", "wait": 0},
    "peers.decide_approval": {"request": 1, "approve": True},
    "dialogue.messages_send": {"to": "critic", "kind": "notify", "subject": "style", "body": "hi", "phase": "T-1"},
    "dialogue.messages_archive": {"id": 1},
    "dialogue.messages_thread": {"id": 1},
    "broadcast.broadcast": {"message": "hi"},
    "broadcast.dismiss": {"id": 1},
    "native.send_message": {"to": "critic", "message": "hi"},
    "mailbox.send_message": {"to": "critic", "parts": [{"type": "text", "text": "hi"}]},
    "native.ask_agent": {"to": "critic", "question": "well?"},
    "native.dismiss_message": {"messages": [1]},
    "native.delegate_task": {"to": "critic", "text": "sort them"},
    "native.update_task": {"task": 3, "state": "completed", "text": "sorted"},
    "mailbox.delegate_task": {"to": "critic", "parts": [{"type": "text", "text": "sort them"}]},
    "mailbox.update_task": {"task": 3, "state": "completed"},
    "mailbox.list_tasks": {"role": "mine"},
    "sessions.sessions_spawn": {"task": "sort them"},
    "sessions.sessions_send": {"sessionKey": "agent:critic:main", "message": "hi"},
    "sessions.sessions_history": {"sessionKey": "agent:critic:main"},
    "sessions.sessions_stop": {"sessionKey": "agent:critic:main"},
    "coordinator.SpawnWorker": {"task": "sort them"},
    "coordinator.SendMessageToWorker": {"worker": "critic", "message": "sort them"},
    "coordinator.StopWorker": {"worker": "critic"},
    "worker.send_message": {"to": "critic", "message": "hi"},
    "worker.ask_agent": {"to": "critic", "question": "well?"},
    "worker.update_task": {"task": 3, "state": "completed", "text": "sorted"},
    "native.spawn_agent": {"task": "sort them"},
    "broadcast.spawn": {"prompt": "sort them"},
}


def calls(kit: str, tool: Tool) -> st.SearchStrategy[object]:
    """Return calls that are nearly right: mostly known names, some values of all sorts, and no long waits."""
    names = st.sampled_from([*(p.name for p in tool.parameters), "mesage", "extra"])
    changes = st.dictionaries(names, st.sampled_from(WORDS), max_size=3)
    fields = changes.map(lambda changed: without_waiting(tool, {**RIGHT.get(f"{kit}.{tool.name}", {}), **changed}))
    return fields | fields.map(_as_text) | st.sampled_from([None, "", "[]", "not JSON", [], 5, "null"])


def without_waiting(tool: Tool, fields: dict[str, Any]) -> dict[str, Any]:
    if any(parameter.name == "timeoutSeconds" for parameter in tool.parameters):
        return {**fields, "timeoutSeconds": 0}
    return {**fields, "wait": 0} if "wait" in fields or "question" in fields or "ticket" in fields else fields


def _as_text(fields: dict[str, Any]) -> str:
    return to_json(fields)


def check(answer: ToolAnswer) -> None:
    assert answer.text.strip()
    assert "Traceback" not in answer.text
    assert "object at 0x" not in answer.text
    to_json(answer.data).encode()
    answer.text.encode()
    if answer.is_error and "error" in answer.data:
        assert len(answer.text) < 2_000, "what was wrong is told in a few words"


@pytest.mark.parametrize(("kit", "tool"), ALL, ids=[f"{kit}.{tool.name}" for kit, tool in ALL])
@settings(max_examples=30)
@given(data=st.data())
async def test_any_call_has_an_answer(kit: str, tool: Tool, data: st.DataObject) -> None:
    async with covey.open("memory:", roots=[]) as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        await critic.send("coder", "hello")
        await critic.send("coder", "shall I?", kind="request")
        await critic.delegate("coder", "sort them")
        for _ in range(3):
            check(await coder.tools(kit).call(tool.name, data.draw(calls(kit, tool))))
        assert await space.services.audit.check() == []


@pytest.mark.parametrize("name", ["", None, 5, "Send_Message", "send-message", "functions.send_message", "x" * 10_000])
async def test_an_unknown_tool_is_reported(name: object) -> None:
    async with covey.open("memory:") as space:
        answer = await (await space.join("coder")).tools().call(name, {})
        assert answer.is_error
        assert "list_agents" in answer.text or "send_message" in answer.text
        assert len(answer.text) < 300


async def test_a_session_that_has_ended_is_reported() -> None:
    async with covey.open("memory:") as space:
        coder, _critic = await space.join("coder"), await space.join("critic")
        tools = coder.tools()
        await coder.leave()
        answer = await tools.call("send_message", {"to": "critic", "message": "hi"})
        assert "has ended: left. You can't repair this: tell the person you work for." in answer.text
