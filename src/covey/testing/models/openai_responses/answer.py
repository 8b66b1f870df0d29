"""A turn as OpenAI's Responses API words it: the response and its items."""

import time
from secrets import token_hex

from covey.core.json import Json, JsonObject
from covey.testing.models.dialect import tokens
from covey.testing.models.lenient import obj
from covey.testing.models.openai_responses.memory import encrypted
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Part, Stop, Thought, ToolCall, Turn, arguments_text

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
"""What a response repeats of its request, with what it says where the request is silent."""


def items(turn: Turn, request: ModelRequest) -> list[JsonObject]:
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


def response(turn: Turn, request: ModelRequest, output: list[JsonObject]) -> JsonObject:
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
