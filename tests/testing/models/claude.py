"""Requests to Anthropic's Messages API, for tests."""

from covey.core.json import Json, JsonObject
from covey.testing.models import thinking_signature
from tests.testing.models.twins import schema

OLD = "claude-haiku-4-5"
"""A model that accepts a prefill, thinks by a budget, and does not bind its thoughts."""
NEW = "claude-opus-5-5"
"""A model that always thinks, accepts no prefill and no forced tools, and binds its thoughts."""


def request(*messages: JsonObject, **fields: Json) -> JsonObject:
    """Return a request that is valid except for the given fields."""
    return {"model": OLD, "max_tokens": 2048, "messages": list(messages) or [user("hi")], **fields}


def user(*content: str | JsonObject) -> JsonObject:
    return {"role": "user", "content": _content(content)}


def assistant(*content: str | JsonObject) -> JsonObject:
    return {"role": "assistant", "content": _content(content)}


def system(*content: str | JsonObject) -> JsonObject:
    return {"role": "system", "content": _content(content)}


def _content(content: tuple[str | JsonObject, ...]) -> Json:
    return [text(part) if isinstance(part, str) else part for part in content]


def text(said: str) -> JsonObject:
    return {"type": "text", "text": said}


def thinking(thought: str) -> JsonObject:
    return {"type": "thinking", "thinking": thought, "signature": thinking_signature(thought)}


def use(use_id: str = "t1", name: str = "look") -> JsonObject:
    return {"type": "tool_use", "id": use_id, "name": name, "input": {}}


def result(use_id: str = "t1", content: Json = "blue") -> JsonObject:
    return {"type": "tool_result", "tool_use_id": use_id, "content": content}


def tool(name: str = "look", **fields: Json) -> JsonObject:
    return {"name": name, "input_schema": schema(at={"type": "string"}), **fields}


def budget(tokens: int = 1024) -> JsonObject:
    return {"type": "enabled", "budget_tokens": tokens}


TOOLS: Json = [tool()]
CACHED: JsonObject = {"cache_control": {"type": "ephemeral"}}
IMAGE: JsonObject = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
