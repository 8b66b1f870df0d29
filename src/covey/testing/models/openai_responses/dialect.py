"""OpenAI's Responses API: POST /v1/responses."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex

from covey.core.json import Json, JsonObject
from covey.testing.models import openai as openai_voice
from covey.testing.models.dialect import ModelAnswer, StreamEvent, pieces, tokens
from covey.testing.models.openai_responses.items import ResponseMemory, encrypted, given
from covey.testing.models.openai_responses.rules import check_request
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
from covey.testing.models.script import ModelTurn, Part, Stop, Thought, ToolCall, Trouble, arguments_text, with_ids


def entries(body: JsonObject, items: Iterable[JsonObject]) -> Iterator[RequestEntry]:
    """Yield the instructions and all items as entries."""
    if instructions := string(body.get("instructions")):
        yield RequestEntry("system", EntryKind.TEXT, instructions)
    for item in items:
        yield from _entries(item)


def _entries(item: JsonObject) -> Iterator[RequestEntry]:
    match item.get("type", "message"):
        case "message":
            for text in texts(item.get("content")):
                yield RequestEntry(string(item.get("role")), EntryKind.TEXT, text)
        case "reasoning":
            for text in texts(item.get("summary")):
                yield RequestEntry("assistant", EntryKind.THOUGHT, text)
        case "function_call" | "custom_tool_call":
            name, call_id = string(item.get("name")), string(item.get("call_id"))
            text = string(item.get("arguments")) or string(item.get("input"))
            yield RequestEntry("assistant", EntryKind.CALL, text, name, call_id)
        case "function_call_output" | "custom_tool_call_output":
            text = "\n".join(texts(item.get("output")))
            yield RequestEntry("tool", EntryKind.RESULT, text, id=string(item.get("call_id")))
        case _:
            pass


def events(response: JsonObject, output: Sequence[JsonObject]) -> Iterator[StreamEvent]:
    """Yield the numbered events of a response."""
    for number, data in enumerate(_data(response, output)):
        yield StreamEvent({**data, "sequence_number": number}, str(data["type"]))


def _data(response: JsonObject, output: Sequence[JsonObject]) -> Iterator[JsonObject]:
    begun: JsonObject = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(output):
        place: JsonObject = {"output_index": index, "item_id": item["id"]}
        match item["type"]:
            case "message":
                yield _added(index, {**item, "status": "in_progress", "content": []})
                yield from _message(item, place)
            case "reasoning":
                yield _added(index, {**item, "summary": []})
                yield from _reasoning(item, place)
            case _:
                yield _added(index, {**item, "status": "in_progress", "arguments": ""})
                yield from _call(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _added(index: int, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def _message(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for index, part in enumerate(objects(item["content"])):
        where: JsonObject = {**place, "content_index": index}
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        for piece in pieces(string(part["text"])):
            yield {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **where, "part": part}


def _reasoning(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for index, part in enumerate(objects(item["summary"])):
        where: JsonObject = {**place, "summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
        for piece in pieces(string(part["text"])):
            yield {"type": "response.reasoning_summary_text.delta", **where, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **where, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **where, "part": part}


def _call(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for piece in pieces(string(item["arguments"])):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}


_ECHOED: dict[str, Json] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}
"""The fields that a response repeats from its request, with their defaults."""


def items(turn: ModelTurn, request: ModelRequest) -> list[JsonObject]:
    """Return the items of a turn."""
    has_summary = obj(request.body.get("reasoning")).get("summary") is not None
    return [_item(part, has_summary) for part in turn.parts]


def _item(part: Part, has_summary: bool) -> JsonObject:
    match part:
        case str():
            content: JsonObject = {"type": "output_text", "text": part, "annotations": [], "logprobs": []}
            return {
                "id": f"msg_{token_hex(12)}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [content],
            }
        case Thought(text):
            item_id = f"rs_{token_hex(12)}"
            summary: list[Json] = [{"type": "summary_text", "text": text}] if has_summary else []
            return {"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": encrypted(item_id)}
        case ToolCall():
            return {
                "id": f"fc_{token_hex(12)}",
                "type": "function_call",
                "status": "completed",
                "call_id": part.id,
                "name": part.name,
                "arguments": arguments_text(part),
            }


def response(turn: ModelTurn, request: ModelRequest, output: list[JsonObject]) -> JsonObject:
    """Return the whole response."""
    why = {Stop.LENGTH: "max_output_tokens", Stop.REFUSAL: "content_filter"}.get(turn.stop)
    asked, spent = tokens(request.text), sum(tokens(str(item)) for item in output)
    return {
        "id": f"resp_{token_hex(12)}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if why else "completed",
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "model": request.model,
        "output": output,
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": asked + spent,
        },
        **{name: request.body.get(name, silent) for name, silent in _ECHOED.items()},
    }


class OpenAIResponses:
    """The dialect of the Responses API, with a memory of stored responses."""

    api = Api.OPENAI_RESPONSES
    path = "/v1/responses"
    request_id_header = "x-request-id"

    def __init__(self) -> None:
        self._memory = ResponseMemory()

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        openai_voice.authenticate(headers, key)

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        check_request(body, self._memory)

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        try:
            before = self._memory.before(body)
        except ProviderRefusal:
            before = ()
        return tuple(entries(body, [*before, *map(self._resolved, given(body))]))

    def _resolved(self, item: JsonObject) -> JsonObject:
        """Return the stored item behind a reference; any other item is returned unchanged."""
        return self._memory.item(string(item.get("id"))) or item if set(item) <= {"id", "type"} else item

    def answer(self, turn: ModelTurn, request: ModelRequest) -> ModelAnswer:
        turn = with_ids(turn, "call_")
        output = items(turn, request)
        body = response(turn, request, output)
        self._memory.keep(string(body["id"]), request.body, output)
        return ModelAnswer(body, tuple(events(body, output)))

    def failure(self, refusal: ProviderRefusal, request_id: str) -> JsonObject:
        return openai_voice.failure(refusal)

    def trouble(self, trouble: Trouble) -> ProviderRefusal:
        return openai_voice.trouble(trouble)

    def broken(self, trouble: Trouble, answer: ModelAnswer, sent: int) -> StreamEvent:
        told = openai_voice.trouble(trouble)
        error: JsonObject = {"code": told.code, "message": told.message}
        failed: JsonObject = {**answer.body, "status": "failed", "output": [], "usage": None, "error": error}
        return StreamEvent({"type": "response.failed", "sequence_number": sent, "response": failed}, "response.failed")
