"""The official client of OpenAI against the scripted model, which it can't distinguish from the real one, in chat and
in responses."""

import json
from contextlib import AbstractAsyncContextManager

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputParam

from covey.testing.models import (
    Cut,
    EntryKind,
    Fail,
    Hang,
    Line,
    ScriptedModel,
    Stop,
    Thought,
    ToolCall,
    Trouble,
    say,
)
from tests.testing.models.settling import settling

GPT = "gpt-6"
HI: ChatCompletionMessageParam = {"role": "user", "content": "What colour is the sky?"}
PARAMETERS: dict[str, object] = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
CHAT_LOOK: ChatCompletionToolParam = {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}
LOOK: FunctionToolParam = {"type": "function", "name": "look", "parameters": PARAMETERS, "strict": False}


def client(
    model: ScriptedModel, *, retries: int = 0, key: str = "any", timeout: float = 20
) -> AbstractAsyncContextManager[openai.AsyncOpenAI]:
    return settling(openai.AsyncOpenAI(base_url=model.openai_url, api_key=key, max_retries=retries, timeout=timeout))


async def test_a_chat_is_answered_by_the_script() -> None:
    async with ScriptedModel(["Blue."]) as model, client(model) as gpt:
        completion = await gpt.chat.completions.create(model=GPT, messages=[HI])
        assert completion.choices[0].message.content == "Blue."
        assert completion.choices[0].finish_reason == "stop"
        assert "What colour is the sky?" in model.requests[0].text


async def test_a_chats_stream_builds_the_same_text_and_reports_its_usage() -> None:
    text = "Blue, as far as the eye can see; at dusk it is rather red."
    async with ScriptedModel([text]) as model, client(model) as gpt:
        stream = await gpt.chat.completions.create(
            model=GPT, messages=[HI], stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        assert "".join(said) == text
        assert len(said) > 4
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.completion_tokens > 1


async def test_a_chats_tool_calls_go_out_and_their_results_come_back() -> None:
    script = [say("Let me look.", ToolCall("look", {"at": "sky"}), ToolCall("look", "{not json")), "Blue."]
    async with ScriptedModel(script) as model, client(model) as gpt:
        completion = await gpt.chat.completions.create(model=GPT, messages=[HI], tools=[CHAT_LOOK])
        said = completion.choices[0].message
        assert completion.choices[0].finish_reason == "tool_calls"
        calls = [call for call in said.tool_calls or () if call.type == "function"]
        assert [call.function.arguments for call in calls] == ['{"at": "sky"}', "{not json"]
        echoed: ChatCompletionMessageParam = {
            "role": "assistant",
            "content": said.content,
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in calls
            ],
        }
        results: list[ChatCompletionMessageParam] = [
            {"role": "tool", "tool_call_id": call.id, "content": "blue"} for call in calls
        ]
        await gpt.chat.completions.create(model=GPT, messages=[HI, echoed, *results], tools=[CHAT_LOOK])
        with pytest.raises(openai.BadRequestError, match="did not have response messages"):
            await gpt.chat.completions.create(model=GPT, messages=[HI, echoed, results[0]], tools=[CHAT_LOOK])
        second = await model.request(2)
        assert [entry.text for entry in second.entries if entry.kind is EntryKind.RESULT] == ["blue", "blue"]
        assert second.tools == ("look",)


async def test_a_chats_stream_builds_the_same_tool_call() -> None:
    async with ScriptedModel([ToolCall("look", {"at": 'the sky, {"quoted"}'})]) as model, client(model) as gpt:
        async with gpt.chat.completions.stream(model=GPT, messages=[HI], tools=[CHAT_LOOK]) as stream:
            completion = await stream.get_final_completion()
        (call,) = completion.choices[0].message.tool_calls or []
        assert json.loads(call.function.arguments) == {"at": 'the sky, {"quoted"}'}
        assert completion.choices[0].finish_reason == "tool_calls"


async def test_a_response_comes_from_the_script() -> None:
    async with ScriptedModel(["Blue."]) as model, client(model) as gpt:
        response = await gpt.responses.create(model=GPT, instructions="Be brief.", input="What colour is the sky?")
        assert (response.output_text, response.status) == ("Blue.", "completed")
        assert [(entry.role, entry.text) for entry in model.requests[0].entries] == [
            ("system", "Be brief."),
            ("user", "What colour is the sky?"),
        ]


async def test_a_responses_stream_builds_the_same_response() -> None:
    text = "Blue, as far as the eye can see."
    script = [say(Thought("It is day, so I'd say blue."), text, ToolCall("look", {"at": 'the sky, {"quoted"}'}))]
    async with ScriptedModel(script) as model, client(model) as gpt:
        async with gpt.responses.stream(
            model=GPT, input="What colour is the sky?", tools=[LOOK], reasoning={"summary": "auto"}
        ) as stream:
            events = [event async for event in stream]
            response = await stream.get_final_response()
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert events[-1].type == "response.completed"
        thought, said, call = response.output
        assert thought.type == "reasoning"
        assert thought.summary[0].text == "It is day, so I'd say blue."
        assert said.type == "message"
        assert response.output_text == text
        assert call.type == "function_call"
        assert json.loads(call.arguments) == {"at": 'the sky, {"quoted"}'}


async def test_a_conversation_of_responses_must_be_sent_back_whole() -> None:
    script = [say(Thought("It is day."), ToolCall("look", {"at": "sky"})), "Blue."]
    async with ScriptedModel(script) as model, client(model) as gpt:
        asked: ResponseInputParam = [{"role": "user", "content": "What colour is the sky?"}]
        response = await gpt.responses.create(model=GPT, input=asked, tools=[LOOK], store=False)
        thought, call = response.output
        assert thought.type == "reasoning"
        assert call.type == "function_call"
        output: ResponseInputParam = [{"type": "function_call_output", "call_id": call.call_id, "output": "blue"}]
        sent_back: ResponseInputParam = [item.to_dict() for item in (thought, call)]  # pyright: ignore[reportAssignmentType] - the client's own way to echo items
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
            await gpt.responses.create(model=GPT, input=[*asked, sent_back[1], *output], tools=[LOOK], store=False)
        await gpt.responses.create(model=GPT, input=[*asked, *sent_back, *output], tools=[LOOK], store=False)
        assert (await model.request(3)).text.endswith("blue")


async def test_a_response_can_continue_a_stored_one() -> None:
    async with ScriptedModel([ToolCall("look", {"at": "sky"}), "Blue.", "As ever."]) as model, client(model) as gpt:
        first = await gpt.responses.create(model=GPT, input="What colour is the sky?", tools=[LOOK])
        (call,) = first.output
        assert call.type == "function_call"
        with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
            await gpt.responses.create(model=GPT, input="Well?", previous_response_id=first.id, tools=[LOOK])
        output: ResponseInputParam = [{"type": "function_call_output", "call_id": call.call_id, "output": "blue"}]
        second = await gpt.responses.create(model=GPT, input=output, previous_response_id=first.id, tools=[LOOK])
        assert second.output_text == "Blue."
        request = await model.request(3)
        assert [entry.kind for entry in request.entries] == [EntryKind.TEXT, EntryKind.CALL, EntryKind.RESULT]
        (said,) = second.output
        reference: ResponseInputParam = [{"type": "item_reference", "id": said.id or ""}]
        await gpt.responses.create(model=GPT, input=reference)
        assert (await model.request(4)).text == "Blue."


async def test_a_response_that_was_not_stored_cannot_be_continued() -> None:
    async with ScriptedModel(["Blue.", "Blue."]) as model, client(model) as gpt:
        first = await gpt.responses.create(model=GPT, input="What colour is the sky?", store=False)
        with pytest.raises(openai.BadRequestError) as caught:
            await gpt.responses.create(model=GPT, input="Well?", previous_response_id=first.id)
        assert caught.value.code == "previous_response_not_found"


async def test_a_turn_that_is_too_long_is_incomplete() -> None:
    async with ScriptedModel([say("Bl", stop=Stop.LENGTH)] * 2) as model, client(model) as gpt:
        completion = await gpt.chat.completions.create(model=GPT, messages=[HI])
        assert completion.choices[0].finish_reason == "length"
        response = await gpt.responses.create(model=GPT, input="What colour is the sky?")
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (Fail(Trouble.RATE_LIMITED), openai.RateLimitError),
        (Fail(Trouble.OVERLOADED), openai.InternalServerError),
        (Fail(Trouble.INTERNAL), openai.InternalServerError),
        (Cut(), openai.APIConnectionError),
    ],
)
async def test_a_failure_is_the_clients_own_error(line: Line, error: type[openai.APIError]) -> None:
    async with ScriptedModel([line, line]) as model, client(model) as gpt:
        with pytest.raises(error):
            await gpt.chat.completions.create(model=GPT, messages=[HI])
        with pytest.raises(error):
            await gpt.responses.create(model=GPT, input="What colour is the sky?")


async def test_a_client_times_out_if_the_model_hangs() -> None:
    async with ScriptedModel([Hang()]) as model, client(model, timeout=0.3) as gpt:
        with pytest.raises(openai.APITimeoutError):
            await gpt.chat.completions.create(model=GPT, messages=[HI])


async def test_the_client_retries_after_the_given_time() -> None:
    script = [Fail(Trouble.RATE_LIMITED, retry_after=0.01), Fail(Trouble.OVERLOADED, retry_after=0.01), "Blue."]
    async with ScriptedModel(script) as model, client(model, retries=2) as gpt:
        assert (await gpt.responses.create(model=GPT, input="Well?")).output_text == "Blue."
        assert len(model.requests) == 3


async def test_the_error_of_a_wrong_request_names_its_parameter() -> None:
    async with ScriptedModel([]) as model, client(model) as gpt:
        with pytest.raises(openai.BadRequestError) as caught:
            await gpt.chat.completions.create(model=GPT, messages=[])
        assert (caught.value.param, caught.value.code) == ("messages", "empty_array")
        with pytest.raises(openai.BadRequestError) as caught:
            await gpt.responses.create(model=GPT, input="hi", extra_body={"messages": []})
        assert (caught.value.param, caught.value.code) == ("messages", "unknown_parameter")


async def test_a_wrong_key_is_refused() -> None:
    async with ScriptedModel(["Blue."], key="secret") as model, client(model, key="other") as gpt:
        with pytest.raises(openai.AuthenticationError) as caught:
            await gpt.chat.completions.create(model=GPT, messages=[HI])
        assert caught.value.code == "invalid_api_key"


async def test_an_unknown_path_is_not_found() -> None:
    async with ScriptedModel([]) as model, client(model) as gpt:
        with pytest.raises(openai.NotFoundError):
            await gpt.models.list()


async def test_a_stream_can_fail_in_the_middle() -> None:
    broken = say("Blue, " * 20, ends=Fail(Trouble.OVERLOADED, after=4))
    async with ScriptedModel([broken, broken]) as model, client(model) as gpt:
        chunks = await gpt.chat.completions.create(model=GPT, messages=[HI], stream=True)
        with pytest.raises(openai.APIError, match="overloaded"):
            _ = [chunk async for chunk in chunks]
        events = [event async for event in await gpt.responses.create(model=GPT, input="Well?", stream=True)]
        assert len(events) == 5
        failed = events[-1]
        assert failed.type == "response.failed"
        assert failed.response.error is not None
        assert "overloaded" in failed.response.error.message


async def test_a_stream_can_be_cut_in_the_middle() -> None:
    async with ScriptedModel([say("Blue, " * 20, ends=Cut(after=4))]) as model, client(model) as gpt:
        chunks = await gpt.chat.completions.create(model=GPT, messages=[HI], stream=True)
        with pytest.raises(openai.APIConnectionError):
            _ = [chunk async for chunk in chunks]
