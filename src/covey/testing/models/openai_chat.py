"""OpenAI's Chat Completions API: POST /v1/chat/completions."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Final

from covey.core.json import Json, JsonObject
from covey.testing.models import openai as openai_voice
from covey.testing.models.dialect import ModelAnswer, StreamEvent, pieces, tokens
from covey.testing.models.openai import (
    OpenAIErrorWording,
    check_choice_needs_tools,
    check_function,
    check_name,
    refuse_empty,
    spelled,
)
from covey.testing.models.request import (
    Api,
    EntryKind,
    ModelRequest,
    ProviderRefusal,
    RequestEntry,
    obj,
    objects,
    string,
    texts,
)
from covey.testing.models.script import ModelTurn, Stop, ToolCall, Trouble, arguments_text, with_ids
from covey.testing.models.validation import Cursor

_PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")
_LONGEST_CALL_ID: Final = 40
_MESSAGE_FIELDS: Final[dict[str, set[str]]] = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role",
        "content",
        "name",
        "refusal",
        "annotations",
        "audio",
        "function_call",
        "tool_calls",
    },
    "tool": {"role", "content", "name", "tool_call_id"},
    "function": {"role", "content", "name"},
}
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}


def check_messages(messages: Cursor) -> None:
    """Refuse messages that are no valid chat."""
    refuse_empty(messages)
    waiting: list[str] = []
    asked: list[str] = []
    for message in messages.items():
        role = message.need("role").one_of("system", "assistant", "user", "function", "tool", "developer")
        message.only(_MESSAGE_FIELDS[role])
        _check_participant(message.get("name"))
        if role == "tool":
            _check_answer(message, asked, waiting)
            continue
        _refuse_unanswered(waiting, message)
        asked = _check_said(message, role)
        waiting = [*asked]
    _refuse_unanswered(waiting, messages)


def _check_participant(name: Cursor | None) -> None:
    if name is not None and not _PARTICIPANT.fullmatch(name.text()):
        name.refuse("string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.")


def _check_answer(message: Cursor, asked: list[str], waiting: list[str]) -> None:
    call_id = message.need("tool_call_id").text()
    if not asked:
        message.need("role").refuse(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
    if call_id not in asked:
        message.need("tool_call_id").refuse(
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
        )
    _check_content(message.need("content"), "tool")
    if call_id in waiting:
        waiting.remove(call_id)


def _refuse_unanswered(waiting: list[str], at: Cursor) -> None:
    if waiting:
        at.refuse(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
        )


def _check_said(message: Cursor, role: str) -> list[str]:
    """Check a message, and return the ids of its tool calls."""
    if role == "function":
        message.need("name").text()
        message.need("content")
        return []
    calls = message.get("tool_calls") if role == "assistant" else None
    is_optional = role == "assistant" and (calls or message.get("function_call") or message.get("refusal"))
    content = message.get("content") if is_optional else message.need("content")
    if content is not None:
        _check_content(content, role)
    if calls is None:
        return []
    refuse_empty(calls)
    return [_check_call(call) for call in calls.items()]


def _check_content(content: Cursor, role: str) -> None:
    if isinstance(content.value, str):
        return
    if content.value is None or isinstance(content.value, int | float):
        raise content.voice.wrong_type(content.path, "one of a string or array of objects", content.value)
    refuse_empty(content)
    for part in content.items():
        _PART_CHECKS[part.need("type").one_of(*_PARTS[role])](part)


def _text(part: Cursor) -> None:
    part.need("text").text()


def _image(part: Cursor) -> None:
    part.need("image_url").need("url").text()


def _refusal(part: Cursor) -> None:
    part.need("refusal").text()


def _audio(part: Cursor) -> None:
    part.need("input_audio").need("data").text()


def _file(part: Cursor) -> None:
    part.need("file").fields()


_PART_CHECKS: Final[dict[str, Callable[[Cursor], None]]] = {
    "text": _text,
    "image_url": _image,
    "refusal": _refusal,
    "input_audio": _audio,
    "file": _file,
}


def _check_call(call: Cursor) -> str:
    """Check a tool call and return its id."""
    at = call.need("id")
    if len(at.text()) > _LONGEST_CALL_ID:
        raise ProviderRefusal(
            f"Invalid 'tool_calls[].id': string too long. Expected a string with maximum length {_LONGEST_CALL_ID}, "
            f"but got a string with length {len(at.text())} instead.",
            code="string_above_max_length",
        )
    if call.need("type").one_of("function", "custom") == "function":
        check_name(call.need("function").need("name"))
        call.need("function").need("arguments").text()
    else:
        call.need("custom").need("name").text()
        call.need("custom").need("input").text()
    return at.text()


def entries(body: JsonObject) -> Iterator[RequestEntry]:
    """Yield all messages as entries."""
    for message in objects(body.get("messages")):
        role = string(message.get("role"))
        if role == "tool":
            text = "\n".join(texts(message.get("content")))
            yield RequestEntry(role, EntryKind.RESULT, text, id=string(message.get("tool_call_id")))
            continue
        for text in texts(message.get("content")):
            yield RequestEntry(role, EntryKind.TEXT, text)
        for call in objects(message.get("tool_calls")):
            function = obj(call.get("function"))
            name, arguments = string(function.get("name")), string(function.get("arguments"))
            yield RequestEntry(role, EntryKind.CALL, arguments, name, string(call.get("id")))


_REASONS = {
    Stop.END: "stop",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.REFUSAL: "content_filter",
}


def answer(turn: ModelTurn, request: ModelRequest) -> ModelAnswer:
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
    return ModelAnswer(body, tuple(_chunks(head, deltas, reason, usage if has_usage else None)))


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


def _chunks(
    head: JsonObject, deltas: Sequence[JsonObject], reason: str, usage: JsonObject | None
) -> Iterator[StreamEvent]:
    counted: JsonObject = {} if usage is None else {"usage": None}

    def chunk(delta: JsonObject, finished: str | None) -> StreamEvent:
        choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finished}
        return StreamEvent({**head, "object": "chat.completion.chunk", "choices": [choice], **counted})

    for delta in deltas:
        yield chunk(delta, None)
    yield chunk({}, reason)
    if usage is not None:
        yield StreamEvent({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield StreamEvent("[DONE]")


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
    at = Cursor(body, OpenAIErrorWording())
    at.only(_FIELDS)
    if not (model := at.get("model")) or not model.text():
        raise ProviderRefusal("you must provide a model parameter")
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

    def answer(self, turn: ModelTurn, request: ModelRequest) -> ModelAnswer:
        return answer(with_ids(turn, "call_"), request)

    def failure(self, refusal: ProviderRefusal, request_id: str) -> JsonObject:
        return openai_voice.failure(refusal)

    def trouble(self, trouble: Trouble) -> ProviderRefusal:
        return openai_voice.trouble(trouble)

    def broken(self, trouble: Trouble, answer: ModelAnswer, sent: int) -> StreamEvent:
        return StreamEvent(openai_voice.failure(openai_voice.trouble(trouble)))
