"""Models that know the tools only by their descriptions: they make wrong calls, and correct them from the answers."""

import re
from collections.abc import Callable

import pytest

import covey
from covey.core.ledger.ticket import TicketState
from covey.core.names import AgentName, MessageId, ticket_id
from covey.testing.models import EntryKind, Line, ModelRequest, ScriptedModel, ToolCall
from covey.toolkits.catalogue import HOMES
from tests.toolkits.loops import LOOPS

Move = Callable[[str], Line]
"""The action of a model after it has read the last result."""


def results(request: ModelRequest) -> list[str]:
    return [entry.text for entry in request.entries if entry.kind is EntryKind.RESULT]


def playing(*moves: Move) -> Callable[[ModelRequest], Line]:
    """Return a model that makes one move at a time, each based on the last result."""

    def play(request: ModelRequest) -> Line:
        seen = results(request)
        return moves[len(seen)](seen[-1] if seen else "")

    return play


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, f"the model looks for {pattern} in:\n{text}"
    return match[1]


async def state_of(space: covey.Space, message_id: MessageId, debtor: str) -> TicketState:
    """Return the state of the ticket for a request."""
    return (await space.services.dialogue.ticket(ticket_id(message_id, AgentName(debtor)))).state


@pytest.mark.parametrize("api", LOOPS)
async def test_a_model_corrects_its_calls_from_the_answers(api: str) -> None:
    """The model misspells the recipient, omits a field, and misspells another; each answer leads to the next call."""
    model = playing(
        lambda _: ToolCall("list_agents", {}),
        lambda seen: ToolCall("send_message", {"to": found(r"- (\w+)", seen)[:-1], "message": "hi"}),
        lambda seen: ToolCall("send_message", {"to": found(r"did you mean (\w+)\?", seen)}),
        lambda seen: ToolCall("send_message", {"to": "critic", found(r"^(\w+) is missing", seen)[:-1]: "hi"}),
        lambda seen: ToolCall("send_message", {"to": "critic", found(r"did you mean (\w+)\?", seen): "hi"}),
        lambda seen: found(r"(Sent to critic)\.", seen),
    )
    async with covey.open("memory:") as space, ScriptedModel(model) as scripted:
        coder, critic = await space.join("coder"), await space.join("critic")
        assert await LOOPS[api](scripted, coder.tools()) == "Sent to critic"
        assert [delivery.text for delivery in await critic.inbox.peek()] == ["hi"]
        assert all(request.refusal is None for request in scripted.requests)


@pytest.mark.parametrize("api", LOOPS)
async def test_a_model_reads_answers_asks_back_and_dismisses(api: str) -> None:
    model = playing(
        lambda _: ToolCall("read_inbox", {"wait": "0"}),
        lambda seen: ToolCall(
            "ask_agent", {"reply_to": found(r"#(\d+) request", seen), "question": "which?", "wait": 0}
        ),
        lambda seen: ToolCall("ask_agent", {"ticket": found(r'ticket="([^"]+)"', seen), "wait": 0}),
        lambda _: ToolCall("send_message", {"reply_to": 1, "message": "the first one"}),
        lambda _: ToolCall("read_inbox", {"message": 2}),
        lambda _: ToolCall("dismiss_message", {"messages": [2]}),
        lambda _: ToolCall("dismiss_message", {"messages": "2, 77"}),
        lambda seen: "done" if "no message with the number 77" in seen else seen,
    )
    async with covey.open("memory:") as space, ScriptedModel(model) as scripted:
        coder, critic = await space.join("coder"), await space.join("critic")
        asked = await critic.send("coder", "which branch shall I merge?", kind="request")
        await critic.send("coder", "the tests pass")
        assert await LOOPS[api](scripted, coder.tools()) == "done"
        assert await state_of(space, asked.message_id, "coder") is TicketState.CLOSED
        assert [delivery.text for delivery in await critic.inbox.peek()] == ["which?", "the first one"]
        assert not await coder.inbox.peek()


@pytest.mark.parametrize("api", LOOPS)
async def test_a_model_with_the_dialogue_toolkit_answers_before_it_archives(api: str) -> None:
    found_id = r'"id":"([^"]+)"'
    response = {"to": "critic", "kind": "response", "subject": "style", "body": "yes", "phase": "T-1"}
    model = playing(
        lambda _: ToolCall("messages_inbox", {"task": "T-1"}),
        lambda seen: ToolCall("messages_archive", {"id": found(found_id, seen)}),
        lambda seen: ToolCall("messages_send", {**response, "in_reply_to": found(r"in_reply_to=([\w-]+)", seen)}),
        lambda seen: ToolCall("messages_archive", {"id": found(r'"in_reply_to":"([^"]+)"', seen)}),
        lambda _: ToolCall("pending", {"phase": "T-1"}),
        lambda seen: found(r'"observed_pending_replies":(\d)', seen),
    )
    async with covey.open("memory:") as space, ScriptedModel(model) as scripted:
        executor, critic = await space.join("executor"), await space.join("critic")
        asked = await critic.send("executor", "did you mean it?", kind="request", scope="T-1", subject="style")
        assert await LOOPS[api](scripted, executor.tools("dialogue")) == "0"
        assert await state_of(space, asked.message_id, "executor") is TicketState.CLOSED
        assert (await critic.receipt(asked.message_id)).deliveries[0].reason == "answered"


@pytest.mark.parametrize("api", LOOPS)
async def test_models_with_other_toolkits_succeed(api: str) -> None:
    peers = playing(
        lambda _: ToolCall("list_peers", {}),
        lambda seen: ToolCall("send_to_peer", {"to": found(r'"agent_id":"(\w+)"', seen), "message": "ready"}),
        lambda seen: "reached" if '"unreachable_reasons":[]' in seen else seen,
    )
    broadcast = playing(
        lambda _: ToolCall("broadcast", {"message": "Working on the parser"}),
        lambda seen: ToolCall("broadcast", {"send_to": found(r"agents: (\w+)", seen), "message": "Need the schema"}),
        lambda _: ToolCall("broadcast", {"synthetic": True}),
        lambda _: ToolCall("broadcast", {"reply_to": "1", "message": "Thanks"}),
        lambda seen: found(r"(Marked as handled: #1 from critic)", seen),
    )
    mailbox = playing(
        lambda _: ToolCall("list_agents", {"online": None}),
        lambda _: ToolCall("send_message", {"to": "critic", "parts": "hello"}),
        lambda _: ToolCall("send_message", {"to": "critic", "parts": [{"type": "text", "text": "hello"}]}),
        lambda seen: found(r'"delivery":"(\w+)"', seen),
    )
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        await critic.send("coder", "Here is the schema")
        for kit, model, last in (
            ("peers", peers, "reached"),
            ("broadcast", broadcast, "Marked as handled: #1 from critic"),
            ("mailbox", mailbox, "delivered"),
        ):
            async with ScriptedModel(model) as scripted:
                assert await LOOPS[api](scripted, coder.tools(kit)) == last
        said = [delivery.text for delivery in await critic.inbox.peek()]
        assert said == ["ready", "Need the schema", "Thanks", "hello"]


@pytest.mark.parametrize("api", LOOPS)
async def test_a_model_does_a_task_delegates_a_part_and_corrects_its_calls(api: str) -> None:
    model = playing(
        lambda _: ToolCall("read_inbox", {}),
        lambda seen: ToolCall("update_task", {"task": found(r"update_task\(task=(\d+)", seen), "state": "accept"}),
        lambda seen: ToolCall("update_task", {"task": 1, "state": found(r"use (accepted)\.", seen)}),
        lambda _: ToolCall("delegate_task", {"to": "critic", "text": "read it", "deadline_minutes": "5"}),
        lambda seen: ToolCall("read_inbox", {"wait": 0}) if "a part of task" in seen else seen,
        lambda seen: ToolCall("update_task", {"task": found(r"critic: task (\S+),", seen), "state": "completed"}),
        lambda seen: (
            ToolCall("update_task", {"task": 1, "state": "failed"}) if "critic does that task" in seen else seen
        ),
        lambda seen: ToolCall(
            "update_task", {"task": 1, "state": "failed", found(r"^(\w+) is missing", seen): "no time"}
        ),
        lambda seen: found(r"(The task is failed; lead is told)", seen),
    )
    async with covey.open("memory:") as space, ScriptedModel(model) as scripted:
        lead, coder, _critic = await space.join("lead"), await space.join("coder"), await space.join("critic")
        task = await lead.delegate("coder", "write the parser")
        assert await LOOPS[api](scripted, coder.tools()) == "The task is failed; lead is told"
        assert ((await task.refresh()).state, task.reason) == ("failed", "no time")
        assert [view.task.agent for view in await task.tree()] == ["coder", "critic"]
        assert all(request.refusal is None for request in scripted.requests)


@pytest.mark.parametrize("api", LOOPS)
@pytest.mark.parametrize("kit", HOMES)
async def test_every_provider_accepts_every_toolkit(api: str, kit: str) -> None:
    async with covey.open("memory:") as space, ScriptedModel(["fine"]) as scripted:
        tools = (await space.join("coder")).tools(kit)
        assert await LOOPS[api](scripted, tools) == "fine"
        (request,) = scripted.requests
        assert request.tools == tools.names
        assert request.refusal is None


@pytest.mark.parametrize("api", ["openai", "openai-responses"])
async def test_arguments_that_are_not_json_are_reported(api: str) -> None:
    model = playing(
        lambda _: ToolCall("send_message", '{"to": "critic", "message": "hi"'),
        lambda seen: "told" if "send_message takes a JSON object" in seen else seen,
    )
    async with covey.open("memory:") as space, ScriptedModel(model) as scripted:
        coder, _critic = await space.join("coder"), await space.join("critic")
        assert await LOOPS[api](scripted, coder.tools()) == "told"
