"""How OpenAI words what is wrong with a request, and how it says that it is in trouble itself."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.json import Json, JsonObject
from covey.testing.models.cursor import Path, named
from covey.testing.models.refusal import Refusal
from covey.testing.models.script import Trouble

_TROUBLES: Final = {
    Trouble.RATE_LIMITED: (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    Trouble.OVERLOADED: (503, "server_error", "server_is_overloaded", "The engine is currently overloaded."),
    Trouble.INTERNAL: (500, "server_error", "server_error", "The server had an error while processing your request."),
}


class OpenAIVoice:
    """Names the parameter, its steps as code would."""

    def missing(self, path: Path) -> Refusal:
        name = spelled(path)
        return Refusal(f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")

    def wrong_type(self, path: Path, wanted: str, value: Json) -> Refusal:
        name = spelled(path)
        message = f"Invalid type for '{name}': expected {wanted}, but got {named(value)} instead."
        return Refusal(message, param=name, code="invalid_type")

    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> Refusal:
        supported = ", ".join(repr(option) for option in options)
        message = f"Invalid value: '{value}'. Supported values are: {supported}."
        return Refusal(message, param=spelled(path), code="invalid_value")

    def unknown(self, path: Path) -> Refusal:
        name = spelled(path)
        return Refusal(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")

    def invalid(self, path: Path, why: str) -> Refusal:
        return Refusal(why, param=spelled(path) or None, code="invalid_value")


def spelled(path: Path) -> str:
    """Write a path as `messages[0].content`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def authenticate(headers: Mapping[str, str], key: str | None) -> None:
    """Refuse who brings no key, or another than `key`."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise Refusal("You didn't provide an API key in an Authorization header using Bearer auth.", status=401)
    if key is not None and given.strip() != key:
        raise Refusal("Incorrect API key provided.", status=401, code="invalid_api_key")


def failure(refusal: Refusal) -> JsonObject:
    """Return the body of an error."""
    error = {"message": refusal.message, "type": refusal.kind, "param": refusal.param, "code": refusal.code}
    return {"error": error}


def trouble(kind: Trouble) -> Refusal:
    """Return how OpenAI words that it is in trouble."""
    status, name, code, message = _TROUBLES[kind]
    return Refusal(message, status=status, kind=name, code=code)
