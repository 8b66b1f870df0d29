"""Anthropic's Messages API: POST /v1/messages. Answers are a message, or the events of its stream."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Final, NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.anthropic_messages.rules import CheckedRequest, check_request
from covey.testing.models.anthropic_messages.thinking import (
    BINDING_BETA,
    Signature,
    digest,
    prefix_digest,
    thoughts,
    unbound,
)
from covey.testing.models.dialect import ModelAnswer, StreamEvent, encode, pieces, tokens
from covey.testing.models.request import (
    Api,
    EntryKind,
    ModelRequest,
    ProviderRefusal,
    RequestEntry,
    betas,
    objects,
    string,
    texts,
)
from covey.testing.models.script import ModelTurn, Part, Stop, Thought, ToolCall, Trouble, arguments_text, with_ids

_REASONS = {
    Stop.END: "end_turn",
    Stop.TOOL_CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.REFUSAL: "refusal",
}


class SignedThought(NamedTuple):
    """A thought with its signature."""

    thinking: str
    signature: str


Said = str | ToolCall | SignedThought


def answer(turn: ModelTurn, said: Iterable[Said], request: ModelRequest, extra: JsonObject) -> ModelAnswer:
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
    return ModelAnswer(body, tuple(_events(empty, said, reason, spent)))


def _text(part: Said) -> str:
    match part:
        case str():
            return part
        case SignedThought():
            return part.thinking
        case ToolCall():
            return arguments_text(part)


def _block(part: Said) -> JsonObject:
    match part:
        case str():
            return {"type": "text", "text": part}
        case SignedThought():
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


def _events(empty: JsonObject, said: Iterable[Said], reason: JsonObject, spent: int) -> Iterator[StreamEvent]:
    yield _event({"type": "message_start", "message": empty})
    yield _event({"type": "ping"})
    for index, part in enumerate(said):
        yield _event({"type": "content_block_start", "index": index, "content_block": _begun(part)})
        for delta in _deltas(part):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    yield _event({"type": "message_delta", "delta": reason, "usage": {"output_tokens": spent}})
    yield _event({"type": "message_stop"})


def _event(data: JsonObject) -> StreamEvent:
    return StreamEvent(data, str(data["type"]))


def _begun(part: Said) -> JsonObject:
    match part:
        case str():
            return {"type": "text", "text": ""}
        case SignedThought():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolCall():
            return {**_block(part), "input": {}}


def _deltas(part: Said) -> Iterator[JsonObject]:
    match part:
        case str():
            yield from ({"type": "text_delta", "text": piece} for piece in pieces(part))
        case SignedThought():
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(part.thinking))
            yield {"type": "signature_delta", "signature": part.signature}
        case ToolCall():
            # The first piece of Anthropic's streams is always empty.
            for piece in ["", *pieces(encode(_input(part)))]:
                yield {"type": "input_json_delta", "partial_json": piece}


def entries(body: JsonObject) -> Iterator[RequestEntry]:
    """Yield the system prompt and the blocks of all messages as entries."""
    for text in texts(body.get("system")):
        yield RequestEntry("system", EntryKind.TEXT, text)
    for message in objects(body.get("messages")):
        role, content = string(message.get("role")), message.get("content")
        if isinstance(content, str):
            yield RequestEntry(role, EntryKind.TEXT, content)
        for block in objects(content):
            yield from _entry(role, block)


def _entry(role: str, block: JsonObject) -> Iterator[RequestEntry]:
    match block.get("type"):
        case "text":
            yield RequestEntry(role, EntryKind.TEXT, string(block.get("text")))
        case "thinking":
            yield RequestEntry(role, EntryKind.THOUGHT, string(block.get("thinking")))
        case "tool_use":
            name, use_id = string(block.get("name")), string(block.get("id"))
            yield RequestEntry(role, EntryKind.CALL, encode(block.get("input")), name, use_id)
        case "tool_result":
            text = "\n".join(texts(block.get("content")))
            yield RequestEntry(role, EntryKind.RESULT, text, id=string(block.get("tool_use_id")))
        case _:
            pass


def said(parts: Sequence[Part], checked: CheckedRequest, body: JsonObject) -> Iterator[Said]:
    """Yield the parts of an answer. Thoughts are signed, or left out if thinking is off."""
    thinking, speeches = checked.thinking, checked.speeches
    prefix = prefix_digest(body, speeches)
    previous = _latest(speeches)
    for part in _with_first_thought(parts, checked):
        if isinstance(part, Thought):
            if thinking.is_on:
                text = "" if thinking.omits_text else part.text
                signature = Signature(digest(text), prefix, previous).encoded()
                previous = digest(signature)
                yield SignedThought(text, signature)
        else:
            yield part


def _with_first_thought(parts: Sequence[Part], checked: CheckedRequest) -> Sequence[Part]:
    """Add a first thought if the mode is a thinking budget: the model then begins every turn with a thought."""
    goes_on = bool(checked.speeches[-1].of("tool_result"))
    has_thought = any(isinstance(part, Thought) for part in parts)
    if checked.thinking.mode != "enabled" or goes_on or has_thought:
        return parts
    return [Thought("Let me think."), *parts]


def _latest(speeches: Sequence[Speech]) -> str:
    latest = ""
    for thought in thoughts(speeches):
        latest = digest(thought.block.field("signature"))
    return latest


_TROUBLES: Final = {
    Trouble.RATE_LIMITED: (429, "rate_limit_error", "This request would exceed your account's rate limit."),
    Trouble.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Trouble.INTERNAL: (500, "api_error", "Internal server error"),
}


class AnthropicMessages:
    """The dialect of the Messages API, with a memory of the model's tool uses and the thoughts of their turns."""

    api = Api.ANTHROPIC_MESSAGES
    path = "/v1/messages"
    request_id_header = "request-id"

    def __init__(self) -> None:
        self._issued: dict[str, tuple[str, ...]] = {}

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not given:
            raise ProviderRefusal("x-api-key header is required", status=401, kind="authentication_error")
        if key is not None and given != key:
            raise ProviderRefusal("invalid x-api-key", status=401, kind="authentication_error")

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        if not headers.get("anthropic-version"):
            raise ProviderRefusal("anthropic-version: header is required")
        check_request(body, betas(headers), self._issued)

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        return tuple(entries(body))

    def answer(self, turn: ModelTurn, request: ModelRequest) -> ModelAnswer:
        turn = with_ids(turn, "toolu_")
        try:
            checked = check_request(request.body, request.betas, self._issued)
        except ProviderRefusal:
            # The test turned `refuses_invalid` off, so an invalid request is answered too.
            parts: list[Said] = [part for part in turn.parts if not isinstance(part, Thought)]
            return answer(turn, parts, request, {})
        parts = list(said(turn.parts, checked, request.body))
        thoughts = tuple(part.signature for part in parts if isinstance(part, SignedThought))
        self._issued.update({part.id: thoughts for part in parts if isinstance(part, ToolCall)})
        return answer(turn, parts, request, _transformations(request, checked))

    def failure(self, refusal: ProviderRefusal, request_id: str) -> JsonObject:
        error: JsonObject = {"type": refusal.kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": request_id}

    def trouble(self, trouble: Trouble) -> ProviderRefusal:
        status, kind, message = _TROUBLES[trouble]
        return ProviderRefusal(message, status=status, kind=kind)

    def broken(self, trouble: Trouble, answer: ModelAnswer, sent: int) -> StreamEvent:
        _, kind, message = _TROUBLES[trouble]
        return StreamEvent({"type": "error", "error": {"type": kind, "message": message}}, "error")


def _transformations(request: ModelRequest, checked: CheckedRequest) -> JsonObject:
    """Return the list of dropped thoughts, if the request opts into the beta for it."""
    if BINDING_BETA not in request.betas:
        return {}
    dropped = unbound(request.body, checked.speeches) if checked.able.binds_thoughts else ()
    return {
        "input_transformations": [
            {
                "type": "thinking_dropped",
                "path": ".".join(map(str, block.at.path)),
                "reason": "prefix_binding_mismatch",
            }
            for block in dropped
        ]
    }
