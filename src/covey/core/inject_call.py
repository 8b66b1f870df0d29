"""A tool call that the model never made, and its result: made, recognised and taken out again."""

from collections.abc import Sequence
from typing import Any, Final

from covey.core.compact import to_json
from covey.core.inject_pieces import Provider, blocks, field, sequence
from covey.core.render_broadcast import INPUT, TOOL

_MARK: Final = "cvy_"
"""Begins the ids of our calls. With the id of an offer they have 40 characters, which every provider takes."""

_NO_OFFER: Final = "00000000-0000-0000-0000-000000000000"


def call_id(offer: str | None) -> str:
    """Return the id of the call that shows an offer; it stands in the transcript and proves the showing."""
    return _MARK + (offer or _NO_OFFER)


def call_and_result(use_id: str, result: str, provider: Provider) -> list[dict[str, Any]]:
    """Return the two items that a provider takes for a call and its result."""
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
    """Tell whether a call of ours stands at this place, with its result after it."""
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
    """Return a field of the only part, where it is of that kind."""
    return field(parts[0], name) if len(parts) == 1 and field(parts[0], "type") == kind else None


def is_declared(tools: Sequence[object]) -> bool:
    """Tell whether the tool is among those of a request: names, or descriptions in any provider's form."""
    return any(tool == TOOL or field(tool, "name") == TOOL or _function_name(tool) == TOOL for tool in tools)


def _function_name(tool: object) -> object:
    function = field(tool, "function")
    return None if function is None else field(function, "name")
