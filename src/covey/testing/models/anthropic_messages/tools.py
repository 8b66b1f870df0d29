"""The tools that a request declares, and how it lets the model choose among them."""

import re
from collections.abc import Collection
from typing import Final

from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.cursor import Cursor
from covey.testing.models.schemas import check_parameters

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_FIELDS: Final = {
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "input_examples",
    "input_schema",
    "name",
    "strict",
    "type",
}
_CHOICES: Final = {
    "auto": {"type", "disable_parallel_tool_use"},
    "any": {"type", "disable_parallel_tool_use"},
    "tool": {"type", "disable_parallel_tool_use", "name"},
    "none": {"type"},
}


def read_tools(body: Cursor, *, has_betas: bool) -> frozenset[str] | None:
    """Check the tools and return their names; None where the request has none."""
    tools = body.get("tools")
    if tools is None:
        return None
    names: list[str] = []
    for tool in tools.items():
        kind = tool.get("type")
        if kind is None or kind.text() == "custom":
            _check_custom(tool, has_betas)
        if name := tool.get("name"):
            names.append(name.text())
    if len(set(names)) < len(names):
        tools.refuse("Tool names must be unique.")
    return frozenset(names)


def _check_custom(tool: Cursor, has_betas: bool) -> None:
    if not has_betas:
        tool.only(_FIELDS)
    name = tool.need("name")
    if not _NAME.fullmatch(name.text()):
        name.refuse("String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    if description := tool.get("description"):
        description.text()
    strict = tool.get("strict")
    check_parameters(tool.need("input_schema"), is_strict=strict is not None and strict.boolean())


def check_choice(body: Cursor, declared: Collection[str] | None, able: Abilities) -> bool:
    """Check `tool_choice`; return whether it forces the model to use a tool."""
    choice = body.get("tool_choice")
    if choice is None:
        return False
    if not declared:
        choice.refuse("tool_choice may only be specified while providing tools")
    kind = choice.need("type").one_of(*_CHOICES)
    choice.only(_CHOICES[kind])
    if kind == "tool" and (name := choice.need("name").text()) not in declared:
        choice.refuse(f"Tool '{name}' not found in provided tools")
    is_forced = kind in {"any", "tool"}
    if is_forced and not able.takes_forced_tools:
        choice.refuse('type "tool" and "any" are not supported for this model.')
    return is_forced
