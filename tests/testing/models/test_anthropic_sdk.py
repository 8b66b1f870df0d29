"""The official client of Anthropic against the scripted model, which it can't distinguish from the real one."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager

import anthropic
import httpx2
import pytest
from anthropic.types import MessageParam, ToolParam

from covey.testing.models import (
    Cut,
    EntryKind,
    Fail,
    Gate,
    Hang,
    Line,
    ScriptedModel,
    Stop,
    Thought,
    ToolCall,
    Trouble,
    say,
)
from tests.testing.models.claude import NEW, OLD
from tests.testing.models.settling import settling

LOOK: ToolParam = {
    "name": "look",
    "description": "Look at something.",
    "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
}
HI: MessageParam = {"role": "user", "content": "What colour is the sky?"}


def client(
    model: ScriptedModel, *, retries: int = 0, key: str = "any", timeout: float = 20
) -> AbstractAsyncContextManager[anthropic.AsyncAnthropic]:
    return settling(anthropic.AsyncAnthropic(base_url=model.url, api_key=key, max_retries=retries, timeout=timeout))


def answered(use_id: str, text: str = "blue") -> MessageParam:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use_id, "content": text}]}


async def ask(
    claude: anthropic.AsyncAnthropic,
    messages: Iterable[MessageParam] = (HI,),
    model: str = OLD,
    tools: Iterable[ToolParam] = (),
) -> str:
    message = await claude.messages.create(model=model, max_tokens=100, messages=messages, tools=tools)
    return "".join(block.text for block in message.content if block.type == "text")


async def test_a_plain_answer_comes_from_the_script() -> None:
    async with ScriptedModel(["Blue."]) as model, client(model) as claude:
        message = await claude.messages.create(model=OLD, max_tokens=100, system="Be brief.", messages=[HI])
        assert [block.type for block in message.content] == ["text"]
        assert (message.stop_reason, message.model, message.role) == ("end_turn", OLD, "assistant")
        assert message.usage.output_tokens > 0
        (request,) = model.requests
        assert [(entry.role, entry.text) for entry in request.entries] == [
            ("system", "Be brief."),
            ("user", "What colour is the sky?"),
        ]
        assert not request.is_streaming


async def test_a_stream_builds_the_same_message() -> None:
    text = "Blue, as far as the eye can see; at dusk it is rather red."
    async with ScriptedModel([text]) as model, client(model) as claude:
        async with claude.messages.stream(model=OLD, max_tokens=100, messages=[HI]) as stream:
            pieces = [piece async for piece in stream.text_stream]
            message = await stream.get_final_message()
        assert len(pieces) > 3
        assert "".join(pieces) == text
        assert message.stop_reason == "end_turn"
        assert model.requests[0].is_streaming


@pytest.mark.parametrize("is_streaming", [False, True])
async def test_a_tool_call_goes_out_and_its_result_comes_back(is_streaming: bool) -> None:
    script = [say("Let me look.", ToolCall("look", {"at": 'the sky, {"quoted"}'})), "Blue."]
    async with ScriptedModel(script) as model, client(model) as claude:
        if is_streaming:
            async with claude.messages.stream(model=OLD, max_tokens=100, messages=[HI], tools=[LOOK]) as stream:
                message = await stream.get_final_message()
        else:
            message = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], tools=[LOOK])
        assert message.stop_reason == "tool_use"
        _, use = message.content
        assert use.type == "tool_use"
        assert (use.name, use.input) == ("look", {"at": 'the sky, {"quoted"}'})
        said: MessageParam = {"role": "assistant", "content": message.content}
        await claude.messages.create(model=OLD, max_tokens=100, messages=[HI, said, answered(use.id)], tools=[LOOK])
        second = await model.request(2)
        assert second.tools == ("look",)
        (call,) = (entry for entry in second.entries if entry.kind is EntryKind.CALL)
        (result,) = (entry for entry in second.entries if entry.kind is EntryKind.RESULT)
        assert (call.name, call.id, result.id, result.text) == ("look", use.id, use.id, "blue")


async def test_a_call_that_was_not_answered_is_refused() -> None:
    async with ScriptedModel([ToolCall("look", {"at": "it"})]) as model, client(model) as claude:
        message = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], tools=[LOOK])
        said: MessageParam = {"role": "assistant", "content": message.content}
        with pytest.raises(anthropic.BadRequestError, match="without `tool_result` blocks immediately after"):
            await claude.messages.create(model=OLD, max_tokens=100, messages=[HI, said, HI], tools=[LOOK])


async def test_the_model_may_call_an_unknown_tool() -> None:
    async with ScriptedModel([ToolCall("fly"), "I see."]) as model, client(model) as claude:
        message = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], tools=[LOOK])
        (use,) = message.content
        assert use.type == "tool_use"
        said: MessageParam = {"role": "assistant", "content": message.content}
        told = answered(use.id, "there is no tool `fly`")
        await claude.messages.create(model=OLD, max_tokens=100, messages=[HI, said, told], tools=[LOOK])


async def test_a_model_with_a_budget_thinks_before_it_acts_and_requires_its_thought_in_the_next_request() -> None:
    script = [ToolCall("look", {"at": "it"}), "Blue."]
    async with ScriptedModel(script) as model, client(model) as claude:
        async with claude.messages.stream(
            model=OLD,
            max_tokens=2000,
            messages=[HI],
            tools=[LOOK],
            thinking={"type": "enabled", "budget_tokens": 1024},
        ) as stream:
            message = await stream.get_final_message()
        thought, use = message.content
        assert thought.type == "thinking"
        assert use.type == "tool_use"
        for content in ([use], message.content):
            said: MessageParam = {"role": "assistant", "content": content}
            turn = claude.messages.create(
                model=OLD,
                max_tokens=2000,
                messages=[HI, said, answered(use.id)],
                tools=[LOOK],
                thinking={"type": "enabled", "budget_tokens": 1024},
            )
            if content is message.content:
                await turn
            else:
                with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
                    await turn


async def test_thoughts_before_a_tool_use_must_be_sent_back_unchanged() -> None:
    script = [say(Thought("It is day."), ToolCall("look", {"at": "it"})), "Blue."]
    async with ScriptedModel(script) as model, client(model) as claude:
        message = await claude.messages.create(model=NEW, max_tokens=100, messages=[HI], tools=[LOOK])
        thought, use = message.content
        assert thought.type == "thinking"
        assert use.type == "tool_use"
        said: MessageParam = {"role": "assistant", "content": message.content}
        stripped: MessageParam = {"role": "assistant", "content": [use]}
        with pytest.raises(anthropic.BadRequestError, match="in the latest assistant message cannot be modified"):
            await ask(claude, [HI, stripped, answered(use.id)], NEW, [LOOK])
        assert await ask(claude, [HI, said, answered(use.id)], NEW, [LOOK]) == "Blue."


@pytest.mark.parametrize(("display", "shown"), [("summarized", "It is day."), ("omitted", "")])
async def test_a_thought_is_shown_as_the_request_wants_it(display: str, shown: str) -> None:
    async with ScriptedModel([say(Thought("It is day."), "Blue.")]) as model, client(model) as claude:
        shape = "omitted" if display == "omitted" else "summarized"
        message = await claude.messages.create(
            model=NEW, max_tokens=100, messages=[HI], thinking={"type": "adaptive", "display": shape}
        )
        thought, _ = message.content
        assert thought.type == "thinking"
        assert thought.thinking == shown


async def test_thoughts_are_left_out_if_thinking_is_off() -> None:
    async with ScriptedModel([say(Thought("It is day."), "Blue.")]) as model, client(model) as claude:
        message = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI])
        assert [block.type for block in message.content] == ["text"]


@pytest.mark.parametrize(("stop", "reason"), [(Stop.LENGTH, "max_tokens"), (Stop.REFUSAL, "refusal")])
async def test_a_turn_stops_for_the_reason_that_the_script_gives(stop: Stop, reason: str) -> None:
    async with ScriptedModel([say("Bl", stop=stop)]) as model, client(model) as claude:
        message = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI])
        assert message.stop_reason == reason


@pytest.mark.parametrize(
    ("line", "error", "kind"),
    [
        (Fail(Trouble.RATE_LIMITED), anthropic.RateLimitError, "rate_limit_error"),
        (Fail(Trouble.OVERLOADED), anthropic.OverloadedError, "overloaded_error"),
        (Fail(Trouble.INTERNAL), anthropic.InternalServerError, "api_error"),
    ],
)
async def test_a_failure_is_the_clients_own_error(line: Line, error: type[anthropic.APIStatusError], kind: str) -> None:
    async with ScriptedModel([line]) as model, client(model) as claude:
        with pytest.raises(error) as caught:
            await ask(claude)
        assert caught.value.type == kind
        assert caught.value.request_id


async def test_the_client_retries_after_the_given_time() -> None:
    script = [Fail(Trouble.RATE_LIMITED, retry_after=0.01), Fail(Trouble.OVERLOADED, retry_after=0.01), "Blue."]
    async with ScriptedModel(script) as model, client(model, retries=2) as claude:
        assert await ask(claude) == "Blue."
        assert len(model.requests) == 3


async def test_a_wrong_key_is_refused() -> None:
    async with ScriptedModel(["Blue."], key="secret") as model:
        async with client(model, key="other") as claude:
            with pytest.raises(anthropic.AuthenticationError):
                await ask(claude)
        async with client(model, key="secret") as claude:
            assert await ask(claude) == "Blue."


async def test_an_unknown_path_is_not_found() -> None:
    async with ScriptedModel([]) as model, client(model) as claude:
        with pytest.raises(anthropic.NotFoundError) as caught:
            await claude.models.list()
        assert caught.value.type == "not_found_error"
        (asked,) = model.elsewhere
        assert asked.startswith("GET /v1/models")
        assert model.requests == ()


async def test_a_connection_that_is_cut_or_hangs_is_an_error_of_the_connection() -> None:
    async with ScriptedModel([Cut(), Hang()]) as model, client(model, timeout=0.3) as claude:
        with pytest.raises(anthropic.APIConnectionError):
            await ask(claude)
        with pytest.raises(anthropic.APITimeoutError):
            await ask(claude)


async def test_a_stream_can_be_cut_in_the_middle() -> None:
    async with ScriptedModel([say("Blue, " * 20, ends=Cut(after=5))]) as model, client(model) as claude:
        stream = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], stream=True)
        with pytest.raises(httpx2.RemoteProtocolError):
            _ = [event async for event in stream]


async def test_a_stream_can_fail_in_the_middle() -> None:
    script = [say("Blue, " * 20, ends=Fail(Trouble.OVERLOADED, after=5))]
    async with ScriptedModel(script) as model, client(model) as claude:
        stream = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], stream=True)
        with pytest.raises(anthropic.APIStatusError) as caught:
            _ = [event async for event in stream]
        assert caught.value.type == "overloaded_error"


async def test_a_stream_comes_event_by_event_as_its_gate_lets_it() -> None:
    gate = Gate()
    async with ScriptedModel([say("Blue, as ever.", gate=gate)]) as model, client(model) as claude:
        gate.let(3)
        stream = await claude.messages.create(model=OLD, max_tokens=100, messages=[HI], stream=True)
        first = await anext(aiter(stream))
        second = await anext(aiter(stream))
        assert (first.type, second.type) == ("message_start", "content_block_start")
        gate.open()
        rest = [event.type async for event in stream]
        assert rest == [
            *["content_block_delta"] * 2,
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
