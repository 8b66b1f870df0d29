"""Anthropic's Messages API: POST /v1/messages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from covey.core.json import JsonObject
from covey.testing.models.anthropic_messages.answer import Said, Signed, answer
from covey.testing.models.anthropic_messages.binding import thoughts, unbound
from covey.testing.models.anthropic_messages.check import Checked, check_request
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.anthropic_messages.signature import Signature, digest, prefix_digest
from covey.testing.models.anthropic_messages.thinking import BINDING_BETA
from covey.testing.models.dialect import Answer, Event, encode
from covey.testing.models.lenient import objects, string, texts
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, Kind, ModelRequest, RequestEntry, betas
from covey.testing.models.script import Part, Thought, ToolCall, Trouble, Turn, with_ids


def entries(body: JsonObject) -> Iterator[RequestEntry]:
    """Yield the system prompt and the blocks of all messages as entries."""
    for text in texts(body.get("system")):
        yield RequestEntry("system", Kind.TEXT, text)
    for message in objects(body.get("messages")):
        role, content = string(message.get("role")), message.get("content")
        if isinstance(content, str):
            yield RequestEntry(role, Kind.TEXT, content)
        for block in objects(content):
            yield from _entry(role, block)


def _entry(role: str, block: JsonObject) -> Iterator[RequestEntry]:
    match block.get("type"):
        case "text":
            yield RequestEntry(role, Kind.TEXT, string(block.get("text")))
        case "thinking":
            yield RequestEntry(role, Kind.THOUGHT, string(block.get("thinking")))
        case "tool_use":
            name, use_id = string(block.get("name")), string(block.get("id"))
            yield RequestEntry(role, Kind.CALL, encode(block.get("input")), name, use_id)
        case "tool_result":
            text = "\n".join(texts(block.get("content")))
            yield RequestEntry(role, Kind.RESULT, text, id=string(block.get("tool_use_id")))
        case _:
            pass


def said(parts: Sequence[Part], checked: Checked, body: JsonObject) -> Iterator[Said]:
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
                yield Signed(text, signature)
        else:
            yield part


def _with_first_thought(parts: Sequence[Part], checked: Checked) -> Sequence[Part]:
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
            raise Refusal("x-api-key header is required", status=401, kind="authentication_error")
        if key is not None and given != key:
            raise Refusal("invalid x-api-key", status=401, kind="authentication_error")

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        if not headers.get("anthropic-version"):
            raise Refusal("anthropic-version: header is required")
        check_request(body, betas(headers), self._issued)

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        return tuple(entries(body))

    def answer(self, turn: Turn, request: ModelRequest) -> Answer:
        turn = with_ids(turn, "toolu_")
        try:
            checked = check_request(request.body, request.betas, self._issued)
        except Refusal:
            # The test turned `refuses_invalid` off, so an invalid request is answered too.
            parts: list[Said] = [part for part in turn.parts if not isinstance(part, Thought)]
            return answer(turn, parts, request, {})
        parts = list(said(turn.parts, checked, request.body))
        thoughts = tuple(part.signature for part in parts if isinstance(part, Signed))
        self._issued.update({part.id: thoughts for part in parts if isinstance(part, ToolCall)})
        return answer(turn, parts, request, _transformations(request, checked))

    def failure(self, refusal: Refusal, request_id: str) -> JsonObject:
        error: JsonObject = {"type": refusal.kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": request_id}

    def trouble(self, trouble: Trouble) -> Refusal:
        status, kind, message = _TROUBLES[trouble]
        return Refusal(message, status=status, kind=kind)

    def broken(self, trouble: Trouble, answer: Answer, sent: int) -> Event:
        _, kind, message = _TROUBLES[trouble]
        return Event({"type": "error", "error": {"type": kind, "message": message}}, "error")


def _transformations(request: ModelRequest, checked: Checked) -> JsonObject:
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
