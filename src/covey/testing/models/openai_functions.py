"""The functions that a request to OpenAI declares, and how it lets the model choose among them."""

import re
from typing import Final

from covey.testing.models.cursor import Cursor
from covey.testing.models.refusal import Refusal
from covey.testing.models.schemas import check_parameters

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST: Final = 64


def check_function(function: Cursor, prefix: str) -> str:
    """Check a function and return its name. `prefix` is how the path of its schema is told."""
    name = check_name(function.need("name"))
    if description := function.get("description"):
        description.text()
    strict = function.get("strict")
    is_strict = strict is not None and strict.boolean()
    parameters = function.get("parameters")
    if parameters is not None:
        try:
            check_parameters(parameters, is_strict=is_strict, needs_all=is_strict)
        except Refusal as refusal:
            raise Refusal(
                f"Invalid schema for function '{name}': {refusal.message}",
                param=prefix,
                code="invalid_function_parameters",
            ) from None
    return name


def check_name(at: Cursor) -> str:
    """Refuse a name that a function can't have."""
    name = at.text()
    if len(name) > _LONGEST:
        at.refuse(f"string too long. Expected a string with maximum length {_LONGEST}, but got {len(name)} instead.")
    if not _NAME.fullmatch(name):
        at.refuse("string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.")
    return name


def refuse_empty(at: Cursor) -> None:
    """Refuse an array that must have something in it."""
    if not at.items():
        raise Refusal(
            f"Invalid '{at.path[-1]}': empty array. Expected an array with minimum length 1, but got an empty array "
            "instead.",
            param=str(at.path[-1]),
            code="empty_array",
        )


def check_choice_needs_tools(body: Cursor, names: frozenset[str]) -> None:
    """Refuse settings about tools where there are none."""
    for setting in ("tool_choice", "parallel_tool_calls"):
        if body.get(setting) is not None and not names:
            body.need(setting).refuse(
                f"Invalid value for '{setting}': '{setting}' is only allowed when 'tools' are specified."
            )
