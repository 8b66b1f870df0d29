"""Injection by example, for each provider: its place, its form and the reason for it."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import TextBlock, ToolUseBlock
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall

from covey.core.attention.injection import InjectionForm, inject, take_out
from covey.core.attention.provider_messages import Provider
from covey.core.attention.styles import FRAME_BEGIN, FRAME_END, RenderingStyle, framed
from covey.core.ledger.offer import Presentation
from covey.testing.fakes import numbered_uuid
from tests.attention.letters import a_letter, another, pending_for_bob

pytestmark = pytest.mark.requirement("broadcast.attention")

PENDING = pending_for_bob(a_letter(text="What's the status on the API?"), others=(another("alice", "frontend"),))
CALL_ID = f"cvy_{numbered_uuid(1)}"
TEXT = framed(PENDING, RenderingStyle.PEERS)
AS_TOOL = framed(PENDING, RenderingStyle.BROADCAST)
USER = {"role": "user", "content": "Go on."}

ANTHROPIC, CHAT, RESPONSES = Provider


def anthropic_use(*ids: str) -> dict[str, Any]:
    uses: list[Any] = [{"type": "tool_use", "id": use_id, "name": "search", "input": {}} for use_id in ids]
    return {"role": "assistant", "content": uses}


def anthropic_results(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": "found"} for i in ids]}


def chat_calls(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "search", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "found"}


def item_call(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "search", "arguments": "{}"}


def item_output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "found"}


# ------------------------------------------------------------------------------------------------ as a call


def test_for_anthropic_an_injection_is_a_tool_use_and_its_result() -> None:
    messages, form, why = inject([USER], PENDING, provider=ANTHROPIC, tools=["broadcast"])
    use = {"type": "tool_use", "id": CALL_ID, "name": "broadcast", "input": {"synthetic": True}}
    result = messages[2]["content"][0].pop("content")
    assert messages == [
        USER,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL_ID}]},
    ]
    assert (form, why) == (InjectionForm.CALL, "")
    assert list(json.loads(result)) == ["agents", "messages", "offer"]


def test_for_openai_chat_an_injection_is_a_tool_call_and_its_message() -> None:
    messages, form, _ = inject([USER], PENDING, provider=CHAT, tools=["broadcast"])
    call = {"id": CALL_ID, "type": "function", "function": {"name": "broadcast", "arguments": '{"synthetic":true}'}}
    assert messages[:2] == [USER, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert messages[2] | {"content": ""} == {"role": "tool", "tool_call_id": CALL_ID, "content": ""}
    assert json.loads(messages[2]["content"])["messages"][0]["content"] == "What's the status on the API?"
    assert form is InjectionForm.CALL


def test_for_openai_responses_an_injection_is_a_function_call_and_its_output() -> None:
    messages, form, _ = inject([USER], PENDING, provider=RESPONSES, tools=["broadcast"])
    arguments = '{"synthetic":true}'
    assert messages[:2] == [
        USER,
        {"type": "function_call", "call_id": CALL_ID, "name": "broadcast", "arguments": arguments},
    ]
    assert messages[2] | {"output": ""} == {"type": "function_call_output", "call_id": CALL_ID, "output": ""}
    assert form is InjectionForm.CALL


@pytest.mark.parametrize(
    "tool",
    [
        "broadcast",
        {"name": "broadcast", "input_schema": {}},
        {"type": "function", "function": {"name": "broadcast"}},
        {"type": "function", "name": "broadcast"},
        SimpleNamespace(name="broadcast"),
    ],
)
def test_a_tool_is_declared_in_any_providers_form(tool: object) -> None:
    assert inject([USER], PENDING, provider=ANTHROPIC, tools=["search", tool]).form is InjectionForm.CALL


def test_after_tool_results_an_injection_is_a_call_too() -> None:
    lists: list[tuple[Provider, list[Any]]] = [
        (ANTHROPIC, [USER, anthropic_use("a", "b"), anthropic_results("a", "b")]),
        (CHAT, [USER, chat_calls("a", "b"), chat_result("a"), chat_result("b")]),
        (RESPONSES, [USER, item_call("a"), item_call("b"), item_output("b"), item_output("a")]),
        (RESPONSES, [item_output("asked in an earlier response")]),
    ]
    for provider, before in lists:
        messages, form, _ = inject(before, PENDING, provider=provider, tools=["broadcast"])
        assert form is InjectionForm.CALL
        assert messages[:-2] == before


# ------------------------------------------------------------------------------------------------- as text


@pytest.mark.parametrize("provider", Provider)
def test_without_a_declared_tool_an_injection_is_text_of_the_last_user_turn(provider: Provider) -> None:
    messages, form, why = inject([USER], PENDING, provider=provider, tools=["search"])
    assert messages == [{"role": "user", "content": f"Go on.\n\n{TEXT}"}]
    assert (form, why) == (InjectionForm.TEXT, "the broadcast tool is not declared")


@pytest.mark.parametrize("provider", Provider)
@pytest.mark.parametrize("thinking", [True, {"type": "enabled", "budget_tokens": 2000}, {"effort": "high"}])
def test_with_thinking_on_an_injection_is_text(provider: Provider, thinking: Any) -> None:
    messages, form, why = inject([USER], PENDING, provider=provider, tools=["broadcast"], thinking=thinking)
    assert messages == [{"role": "user", "content": f"Go on.\n\n{AS_TOOL}"}]
    assert (form, why) == (InjectionForm.TEXT, "thinking is on")


@pytest.mark.parametrize("thinking", [False, None, {"type": "disabled"}, {"effort": "none"}])
def test_with_thinking_off_an_injection_is_a_call(thinking: Any) -> None:
    assert (
        inject([USER], PENDING, provider=RESPONSES, tools=["broadcast"], thinking=thinking).form is InjectionForm.CALL
    )


def test_after_a_thought_in_this_turn_an_injection_is_text() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "…"}
    asked = {"role": "assistant", "content": [thought, *anthropic_use("a")["content"]]}
    messages, form, why = inject(
        [USER, asked, anthropic_results("a")], PENDING, provider=ANTHROPIC, tools=["broadcast"]
    )
    assert (form, why) == (InjectionForm.TEXT, "thinking is on")
    assert messages[-1]["content"][1:] == [{"type": "text", "text": AS_TOOL}]
    items: list[Any] = [USER, {"type": "reasoning", "id": "rs_1", "summary": []}, item_call("a"), item_output("a")]
    messages, form, _ = inject(items, PENDING, provider=RESPONSES, tools=["broadcast"])
    assert form is InjectionForm.TEXT
    assert messages == [*items, {"role": "user", "content": AS_TOOL}]


@pytest.mark.parametrize("provider", Provider)
def test_before_an_answer_that_has_begun_an_injection_is_text_of_the_turn_before(provider: Provider) -> None:
    begun = {"role": "assistant", "content": "The answer is"}
    messages, form, why = inject([USER, begun], PENDING, provider=provider, tools=["broadcast"])
    assert messages == [{"role": "user", "content": f"Go on.\n\n{AS_TOOL}"}, begun]
    assert (form, why) == (InjectionForm.TEXT, "the answer has begun")


@pytest.mark.parametrize(
    ("provider", "after"),
    [
        (ANTHROPIC, [anthropic_use("a")]),
        (ANTHROPIC, [anthropic_use("a", "b"), anthropic_results("a")]),
        (CHAT, [chat_calls("a", "b"), chat_result("b")]),
        (RESPONSES, [item_call("a"), item_call("b"), item_output("a")]),
    ],
)
def test_before_an_open_tool_call_an_injection_is_text_of_the_turn_before(provider: Provider, after: list[Any]) -> None:
    messages, form, why = inject([USER, *after], PENDING, provider=provider, tools=["broadcast"])
    assert messages == [{"role": "user", "content": f"Go on.\n\n{AS_TOOL}"}, *after]
    assert (form, why) == (InjectionForm.TEXT, "a tool call is open")
    assert take_out(messages, provider=provider) == [USER, *after]
    # Without a user turn before the call, one is added.
    alone = inject(after, PENDING, provider=provider, tools=["broadcast"]).messages
    assert alone == [{"role": "user", "content": AS_TOOL}, *after]


def test_after_tool_results_in_a_user_turn_the_text_follows_them() -> None:
    before = [USER, anthropic_use("a"), anthropic_results("a")]
    messages = inject(before, PENDING, provider=ANTHROPIC).messages
    assert messages[-1]["content"] == [*anthropic_results("a")["content"], {"type": "text", "text": TEXT}]


def test_after_tool_results_with_their_own_role_the_text_is_a_new_user_turn() -> None:
    chat = [USER, chat_calls("a"), chat_result("a")]
    assert inject(chat, PENDING, provider=CHAT).messages == [*chat, {"role": "user", "content": TEXT}]
    items = [USER, item_call("a"), item_output("a")]
    assert inject(items, PENDING, provider=RESPONSES).messages == [*items, {"role": "user", "content": TEXT}]


def test_the_text_takes_the_form_that_the_content_has() -> None:
    block = {"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}}
    (message,) = inject([{"role": "user", "content": [block]}], PENDING, provider=ANTHROPIC).messages
    assert message["content"] == [block, {"type": "text", "text": TEXT}]
    part = {"type": "input_text", "text": "Go on."}
    (message,) = inject([{"role": "user", "content": (part,)}], PENDING, provider=RESPONSES).messages
    assert message["content"] == (part, {"type": "input_text", "text": TEXT})
    assert take_out([message], provider=RESPONSES) == [{"role": "user", "content": (part,)}]


@pytest.mark.parametrize("provider", Provider)
@pytest.mark.parametrize("tools", [[], ["broadcast"]])
def test_into_an_empty_list_an_injection_is_a_user_turn(provider: Provider, tools: list[str]) -> None:
    messages, form, why = inject([], PENDING, provider=provider, tools=tools)
    assert [message["role"] for message in messages] == ["user"]
    assert form is InjectionForm.TEXT
    assert why
    assert take_out(messages, provider=provider) == []


@pytest.mark.parametrize("provider", [CHAT, RESPONSES])
def test_after_instructions_alone_an_injection_is_a_new_user_turn(provider: Provider) -> None:
    system = {"role": "developer", "content": "Be brief."}
    assert inject([system], PENDING, provider=provider).messages == [system, {"role": "user", "content": TEXT}]
    assert inject([USER, system], PENDING, provider=provider).messages[1:] == [system]


@pytest.mark.parametrize("content", ["", "  ", f"{FRAME_BEGIN}quoted", f"quoted{FRAME_END}"])
def test_removing_an_injection_restores_the_users_text_exactly(content: str) -> None:
    before = [{"role": "user", "content": content}]
    assert take_out(inject(before, PENDING, provider=CHAT).messages, provider=CHAT) == before


# -------------------------------------------------------------------------- repeated injections, and history


@pytest.mark.parametrize("provider", Provider)
def test_an_injection_that_the_model_repeats_is_not_removed(provider: Provider) -> None:
    echo = [USER, {"role": "assistant", "content": f"You got: {TEXT}"}, {"role": "user", "content": "Yes."}]
    handled = PENDING._replace(presentation=Presentation.UNTIL_HANDLED)
    assert inject(echo, handled, provider=provider).messages[:2] == echo[:2]


def test_an_injection_before_a_thought_is_not_removed() -> None:
    """Some models refuse a thought if the conversation before it has changed."""
    handled = PENDING._replace(presentation=Presentation.UNTIL_HANDLED)
    first = inject([USER], handled, provider=ANTHROPIC, thinking=True).messages
    thought = {"type": "thinking", "thinking": "hm", "signature": "…"}
    kept = [*first, {"role": "assistant", "content": [thought, {"type": "text", "text": "ok"}]}, USER]
    again = inject(kept, handled, provider=ANTHROPIC, thinking=True).messages
    assert again[:2] == kept[:2]
    without_thought = [*first, {"role": "assistant", "content": "ok"}, USER]
    assert inject(without_thought, handled, provider=ANTHROPIC, thinking=True).messages[0] == USER


def test_agents_and_the_hint_are_injected_without_messages_until_handled() -> None:
    alone = pending_for_bob(
        others=(another("alice"),), has_announced=False, offer=None, presentation=Presentation.UNTIL_HANDLED
    )
    messages, form, _ = inject([USER], alone, provider=CHAT, tools=["broadcast"])
    assert form is InjectionForm.CALL
    assert json.loads(messages[-1]["content"])["hint"].startswith("ACTION REQUIRED")
    again = inject(messages, alone, provider=CHAT, tools=["broadcast"]).messages
    assert again == messages
    # A block for messages alone has nothing to show here.
    assert inject([USER], alone, provider=CHAT).form is InjectionForm.NOTHING


# ------------------------------------------------------------------------------------------------- SDK objects


def test_sdk_objects_are_read_and_not_changed() -> None:
    said = [TextBlock(type="text", text="one moment"), ToolUseBlock(type="tool_use", id="a", name="search", input={})]
    for asked in ({"role": "assistant", "content": said}, SimpleNamespace(role="assistant", content=said)):
        open_call = inject([USER, asked], PENDING, provider=ANTHROPIC, tools=["broadcast"])
        assert open_call.why == "a tool call is open"
        messages = inject([USER, asked, anthropic_results("a")], PENDING, provider=ANTHROPIC).messages
        assert messages[1] is asked
    chat = ChatCompletionMessage.model_validate(chat_calls("a"))
    assert inject([USER, chat], PENDING, provider=CHAT, tools=["broadcast"]).why == "a tool call is open"
    call = ResponseFunctionToolCall.model_validate(item_call("a"))
    assert inject([USER, call], PENDING, provider=RESPONSES, tools=["broadcast"]).why == "a tool call is open"
    assert (
        inject([USER, call, item_output("a")], PENDING, provider=RESPONSES, tools=["broadcast"]).form
        is InjectionForm.CALL
    )


def test_beside_a_user_turn_that_is_an_object_a_new_turn_is_added() -> None:
    spoken = SimpleNamespace(role="user", content="Go on.")
    messages = inject([spoken], PENDING, provider=CHAT).messages
    assert messages == [spoken, {"role": "user", "content": TEXT}]
    assert take_out(messages, provider=CHAT) == [spoken]
