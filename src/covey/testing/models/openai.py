"""Shared rules of OpenAI's APIs: declared functions, the choice of tools, authentication and errors."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.json import Json, JsonObject
from covey.testing.models.request import ProviderRefusal
from covey.testing.models.script import Trouble
from covey.testing.models.validation import Cursor, Path, check_parameters, named

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
_LONGEST: Final = 64


def check_function(function: Cursor, prefix: str) -> str:
    """Check a function and return its name. `prefix` is the path of its schema in errors."""
    name = check_name(function.need("name"))
    if description := function.get("description"):
        description.text()
    strict = function.get("strict")
    is_strict = strict is not None and strict.boolean()
    parameters = function.get("parameters")
    if parameters is not None:
        try:
            check_parameters(parameters, is_strict=is_strict, needs_all=is_strict)
        except ProviderRefusal as refusal:
            raise ProviderRefusal(
                f"Invalid schema for function '{name}': {refusal.message}",
                param=prefix,
                code="invalid_function_parameters",
            ) from None
    return name


def check_name(at: Cursor) -> str:
    """Refuse an invalid name of a function."""
    name = at.text()
    if len(name) > _LONGEST:
        at.refuse(f"string too long. Expected a string with maximum length {_LONGEST}, but got {len(name)} instead.")
    if not _NAME.fullmatch(name):
        at.refuse("string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.")
    return name


def refuse_empty(at: Cursor) -> None:
    """Refuse an empty array."""
    if not at.items():
        raise ProviderRefusal(
            f"Invalid '{at.path[-1]}': empty array. Expected an array with minimum length 1, but got an empty array "
            "instead.",
            param=str(at.path[-1]),
            code="empty_array",
        )


def check_choice_needs_tools(body: Cursor, names: frozenset[str]) -> None:
    """Refuse settings for tools in a request without tools."""
    for setting in ("tool_choice", "parallel_tool_calls"):
        if body.get(setting) is not None and not names:
            body.need(setting).refuse(
                f"Invalid value for '{setting}': '{setting}' is only allowed when 'tools' are specified."
            )


_TROUBLES: Final = {
    Trouble.RATE_LIMITED: (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    Trouble.OVERLOADED: (503, "server_error", "server_is_overloaded", "The engine is currently overloaded."),
    Trouble.INTERNAL: (500, "server_error", "server_error", "The server had an error while processing your request."),
}


class OpenAIErrorWording:
    """OpenAI's wording of errors: the parameter is named by its path, written as in code."""

    def missing(self, path: Path) -> ProviderRefusal:
        name = spelled(path)
        return ProviderRefusal(f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")

    def wrong_type(self, path: Path, wanted: str, value: Json) -> ProviderRefusal:
        name = spelled(path)
        message = f"Invalid type for '{name}': expected {wanted}, but got {named(value)} instead."
        return ProviderRefusal(message, param=name, code="invalid_type")

    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> ProviderRefusal:
        supported = ", ".join(repr(option) for option in options)
        message = f"Invalid value: '{value}'. Supported values are: {supported}."
        return ProviderRefusal(message, param=spelled(path), code="invalid_value")

    def unknown(self, path: Path) -> ProviderRefusal:
        name = spelled(path)
        return ProviderRefusal(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")

    def invalid(self, path: Path, why: str) -> ProviderRefusal:
        return ProviderRefusal(why, param=spelled(path) or None, code="invalid_value")


def spelled(path: Path) -> str:
    """Write a path as `messages[0].content`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def authenticate(headers: Mapping[str, str], key: str | None) -> None:
    """Refuse a request without a key, or with a key other than `key`."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise ProviderRefusal("You didn't provide an API key in an Authorization header using Bearer auth.", status=401)
    if key is not None and given.strip() != key:
        raise ProviderRefusal("Incorrect API key provided.", status=401, code="invalid_api_key")


def failure(refusal: ProviderRefusal) -> JsonObject:
    """Return the body of an error."""
    error = {"message": refusal.message, "type": refusal.kind, "param": refusal.param, "code": refusal.code}
    return {"error": error}


def trouble(kind: Trouble) -> ProviderRefusal:
    """Return OpenAI's error for a failure of its own."""
    status, name, code, message = _TROUBLES[kind]
    return ProviderRefusal(message, status=status, kind=name, code=code)
