"""A turn as OpenAI's Chat Completions API words it: the completion, and the chunks of a stream that build it."""

import time
from collections.abc import Iterator, Sequence
from secrets import token_hex

from covey.core.json import Json, JsonObject
from covey.testing.models.dialect import Answer, Event, pieces, tokens
from covey.testing.models.lenient import obj
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Stop, ToolCall, Turn, arguments_text

_REASONS = {
    Stop.END: "stop",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.REFUSAL: "content_filter",
}


def answer(turn: Turn, request: ModelRequest) -> Answer:
    """Word a turn; its thoughts stay hidden."""
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
