"""Injected tool calls with their results: building, recognising and removing them."""

from collections.abc import Sequence
from typing import Any, Final

from covey.core.injection.messages import Provider, blocks, field, sequence
from covey.core.json import to_json
from covey.core.rendering.broadcast import INPUT, TOOL

_MARK: Final = "cvy_"
"""The prefix of the ids of injected calls. With the id of an offer, an id has 40 characters, which every provider
accepts."""

_NO_OFFER: Final = "00000000-0000-0000-0000-000000000000"


def call_id(offer: str | None) -> str:
    """Return the id of the call that shows an offer. In a transcript, the id proves that the offer was shown."""
    return _MARK + (offer or _NO_OFFER)


def call_and_result(use_id: str, result: str, provider: Provider) -> list[dict[str, Any]]:
    """Return a call and its result as two items in the provider's format."""
    if provider is Provider.ANTHROPIC:
        use = {"type": "tool_use", "id": use_id, "name": TOOL, "input": dict(INPUT)}
        answer = {"type": "tool_result", "tool_use_id": use_id, "content": result}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    arguments = to_json(INPUT)
    if provider is Provider.OPENAI:
        call = {"id": use_id, "type": "function", "function": {"name": TOOL, "arguments": arguments}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": use_id, "content": result},
        ]
    return [
        {"type": "function_call", "call_id": use_id, "name": TOOL, "arguments": arguments},
        {"type": "function_call_output", "call_id": use_id, "output": result},
    ]


def is_ours(items: Sequence[object], at: int, provider: Provider) -> bool:
    """Tell whether the item at this place is an injected call, and the next one its result."""
    if not 0 <= at < len(items) - 1:
        return False
    use_id = _use_id(items[at], provider)
    return isinstance(use_id, str) and use_id.startswith(_MARK) and _result_id(items[at + 1], provider) == use_id


def _use_id(item: object, provider: Provider) -> object:
    if provider is Provider.ANTHROPIC:
        return _only(blocks(item), "tool_use", "id")
    if provider is Provider.OPENAI:
        return _only(sequence(field(item, "tool_calls")), "function", "id")
    return field(item, "call_id") if field(item, "type") == "function_call" else None


def _result_id(item: object, provider: Provider) -> object:
    if provider is Provider.ANTHROPIC:
        return _only(blocks(item), "tool_result", "tool_use_id")
    if provider is Provider.OPENAI:
        return field(item, "tool_call_id")
    return field(item, "call_id") if field(item, "type") == "function_call_output" else None


def _only(parts: Sequence[object], kind: str, name: str) -> object:
    """Return a field of the part if it is the only one and of that kind; otherwise None."""
    return field(parts[0], name) if len(parts) == 1 and field(parts[0], "type") == kind else None


def is_declared(tools: Sequence[object]) -> bool:
    """Tell whether a request declares the broadcast tool, by name or by a description in any provider's format."""
    return any(tool == TOOL or field(tool, "name") == TOOL or _function_name(tool) == TOOL for tool in tools)


def _function_name(tool: object) -> object:
    function = field(tool, "function")
    return None if function is None else field(function, "name")
