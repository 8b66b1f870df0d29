"""Answers of Anthropic's Messages API: the message of a turn, and the events of its stream."""

import json
from collections.abc import Iterable, Iterator, Mapping
from secrets import token_hex
from typing import NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.dialect import Answer, Event, encode, pieces, tokens
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Stop, ToolCall, Turn, arguments_text

_REASONS = {
    Stop.END: "end_turn",
    Stop.TOOL_CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.REFUSAL: "refusal",
}


class Signed(NamedTuple):
    """A thought with its signature."""

    thinking: str
    signature: str


Said = str | ToolCall | Signed


def answer(turn: Turn, said: Iterable[Said], request: ModelRequest, extra: JsonObject) -> Answer:
    """Return the parts as a message, with `extra` fields."""
    said = list(said)
    spent = sum(tokens(_text(part)) for part in said)
    usage: JsonObject = {
        "input_tokens": tokens(request.text),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": spent,
    }
    empty: JsonObject = {
        "id": f"msg_{token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
        **extra,
    }
    reason: JsonObject = {"stop_reason": _REASONS[turn.stop], "stop_sequence": None}
    body = {**empty, **reason, "content": [_block(part) for part in said], "usage": usage}
    return Answer(body, tuple(_events(empty, said, reason, spent)))


def _text(part: Said) -> str:
    match part:
        case str():
            return part
        case Signed():
            return part.thinking
        case ToolCall():
            return arguments_text(part)


def _block(part: Said) -> JsonObject:
    match part:
        case str():
            return {"type": "text", "text": part}
        case Signed():
            return {"type": "thinking", "thinking": part.thinking, "signature": part.signature}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": _input(part)}


def _input(call: ToolCall) -> JsonObject:
    """Return the arguments as an object: this API can't carry anything else."""
    if not isinstance(call.arguments, str):
        return call.arguments
    arguments: Json = json.loads(call.arguments)
    if not isinstance(arguments, Mapping):
        raise ValueError(f"no object: {call.arguments}")
    return arguments


def _events(empty: JsonObject, said: Iterable[Said], reason: JsonObject, spent: int) -> Iterator[Event]:
    yield _event({"type": "message_start", "message": empty})
    yield _event({"type": "ping"})
    for index, part in enumerate(said):
        yield _event({"type": "content_block_start", "index": index, "content_block": _begun(part)})
        for delta in _deltas(part):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    yield _event({"type": "message_delta", "delta": reason, "usage": {"output_tokens": spent}})
    yield _event({"type": "message_stop"})


def _event(data: JsonObject) -> Event:
    return Event(data, str(data["type"]))


def _begun(part: Said) -> JsonObject:
    match part:
        case str():
            return {"type": "text", "text": ""}
        case Signed():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolCall():
            return {**_block(part), "input": {}}


def _deltas(part: Said) -> Iterator[JsonObject]:
    match part:
        case str():
            yield from ({"type": "text_delta", "text": piece} for piece in pieces(part))
        case Signed():
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(part.thinking))
            yield {"type": "signature_delta", "signature": part.signature}
        case ToolCall():
            # The first piece of Anthropic's streams is always empty.
            for piece in ["", *pieces(encode(_input(part)))]:
                yield {"type": "input_json_delta", "partial_json": piece}
