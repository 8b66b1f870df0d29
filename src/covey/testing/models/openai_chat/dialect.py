"""OpenAI's Chat Completions API: POST /v1/chat/completions."""

import time
from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Final

from covey.core.json import Json, JsonObject
from covey.testing.models import openai as openai_voice
from covey.testing.models.cursor import Cursor
from covey.testing.models.dialect import Answer, Event, pieces, tokens
from covey.testing.models.lenient import obj, objects, string, texts
from covey.testing.models.openai import OpenAIVoice, check_choice_needs_tools, check_function, refuse_empty, spelled
from covey.testing.models.openai_chat.messages import check_messages
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, Kind, ModelRequest, RequestEntry
from covey.testing.models.script import Stop, ToolCall, Trouble, Turn, arguments_text, with_ids


def entries(body: JsonObject) -> Iterator[RequestEntry]:
    """Yield all messages as entries."""
    for message in objects(body.get("messages")):
        role = string(message.get("role"))
        if role == "tool":
            text = "\n".join(texts(message.get("content")))
            yield RequestEntry(role, Kind.RESULT, text, id=string(message.get("tool_call_id")))
            continue
        for text in texts(message.get("content")):
            yield RequestEntry(role, Kind.TEXT, text)
        for call in objects(message.get("tool_calls")):
            function = obj(call.get("function"))
            name, arguments = string(function.get("name")), string(function.get("arguments"))
            yield RequestEntry(role, Kind.CALL, arguments, name, string(call.get("id")))


_REASONS = {
    Stop.END: "stop",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.REFUSAL: "content_filter",
}


def answer(turn: Turn, request: ModelRequest) -> Answer:
    """Return a turn in the format of the API, without its thoughts."""
    text = "".join(part for part in turn.parts if isinstance(part, str))
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    head: JsonObject = {"id": f"chatcmpl-{token_hex(12)}", "created": int(time.time()), "model": request.model}
    reason = _REASONS[turn.stop]
    message: JsonObject = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
    if calls:
        message = {**message, "tool_calls": [_call(call) for call in calls]}
    choice: JsonObject = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    usage = _usage(request, text, calls)
    body: JsonObject = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    has_usage = obj(request.body.get("stream_options")).get("include_usage") is True
    deltas = list(_deltas(text, calls))
    return Answer(body, tuple(_chunks(head, deltas, reason, usage if has_usage else None)))


def _usage(request: ModelRequest, text: str, calls: Sequence[ToolCall]) -> JsonObject:
    asked = tokens(request.text)
    spent = tokens(text) + sum(tokens(arguments_text(call)) for call in calls)
    return {"prompt_tokens": asked, "completion_tokens": spent, "total_tokens": asked + spent}


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": call.id, "type": "function", "function": function}


def _deltas(text: str, calls: Sequence[ToolCall]) -> Iterator[JsonObject]:
    yield {"role": "assistant", "content": "" if text else None, "refusal": None}
    for piece in pieces(text):
        yield {"content": piece}
    for index, call in enumerate(calls):
        begun: JsonObject = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": begun}]}
        for piece in pieces(arguments_text(call)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chunks(head: JsonObject, deltas: Sequence[JsonObject], reason: str, usage: JsonObject | None) -> Iterator[Event]:
    counted: JsonObject = {} if usage is None else {"usage": None}

    def chunk(delta: JsonObject, finished: str | None) -> Event:
        choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finished}
        return Event({**head, "object": "chat.completion.chunk", "choices": [choice], **counted})

    for delta in deltas:
        yield chunk(delta, None)
    yield chunk({}, reason)
    if usage is not None:
        yield Event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield Event("[DONE]")


_FIELDS: Final = {
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
}


def check_request(body: JsonObject) -> None:
    """Refuse a request that the provider would refuse."""
    at = Cursor(body, OpenAIVoice())
    at.only(_FIELDS)
    if not (model := at.get("model")) or not model.text():
        raise Refusal("you must provide a model parameter")
    stream = at.get("stream")
    is_streaming = stream is not None and stream.boolean()
    if at.get("stream_options") and not is_streaming:
        at.need("stream_options").refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_tools(at)
    check_messages(at.need("messages"))


def _check_tools(at: Cursor) -> None:
    tools = at.get("tools")
    names: set[str] = set()
    if tools is not None:
        refuse_empty(tools)
        for tool in tools.items():
            if tool.need("type").one_of("function", "custom") == "function":
                function = tool.need("function")
                names.add(check_function(function, spelled((*function.path, "parameters"))))
            else:
                names.add(tool.need("custom").need("name").text())
    check_choice_needs_tools(at, frozenset(names))
    _check_choice(at.get("tool_choice"), names)


def _check_choice(choice: Cursor | None, names: set[str]) -> None:
    if choice is None:
        return
    if isinstance(choice.value, str):
        choice.one_of("none", "auto", "required")
        return
    kind = choice.need("type").one_of("function", "custom", "allowed_tools")
    if kind != "allowed_tools" and (name := choice.need(kind).need("name").text()) not in names:
        choice.refuse(f"Tool choice '{name}' not found in 'tools' parameter.")


class OpenAIChat:
    """The dialect of the Chat Completions API, without a memory: each request is complete."""

    api = Api.OPENAI_CHAT
    path = "/v1/chat/completions"
    request_id_header = "x-request-id"

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        openai_voice.authenticate(headers, key)

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        check_request(body)

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        return tuple(entries(body))

    def answer(self, turn: Turn, request: ModelRequest) -> Answer:
        return answer(with_ids(turn, "call_"), request)

    def failure(self, refusal: Refusal, request_id: str) -> JsonObject:
        return openai_voice.failure(refusal)

    def trouble(self, trouble: Trouble) -> Refusal:
        return openai_voice.trouble(trouble)

    def broken(self, trouble: Trouble, answer: Answer, sent: int) -> Event:
        return Event(openai_voice.failure(openai_voice.trouble(trouble)))
