"""Requests to the scripted model: as received, as entries of the model's context, refused, and read leniently."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from covey.core.json import Json, JsonObject


class ProviderRefusal(Exception):
    """The reason for refusing a request, with the status and the fields of the provider's answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.param = param
        self.code = code
        self.retry_after = retry_after


class Api(StrEnum):
    """The API of a request, by its provider and name."""

    ANTHROPIC_MESSAGES = "anthropic messages"
    OPENAI_CHAT = "openai chat"
    OPENAI_RESPONSES = "openai responses"


class EntryKind(StrEnum):
    """The kind of an entry."""

    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    RESULT = "result"


class RequestEntry(NamedTuple):
    """One entry of the model's context."""

    role: str
    """The role in the request; `system`, `assistant` or `tool` if the request names none."""
    kind: EntryKind
    text: str
    """The text; of a call, its arguments."""
    name: str = ""
    """The name of the called tool."""
    id: str = ""
    """The id of the call, or of the call that a result answers."""


class ModelRequest(NamedTuple):
    """One request, numbered in the order of arrival."""

    number: int
    """Counted from 1."""
    api: Api
    path: str
    """The path with its query."""
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    body: JsonObject
    """The parsed body; empty if it was no JSON object."""
    entries: tuple[RequestEntry, ...] = ()
    """The model's context, in order, including entries from the provider's memory of earlier responses."""
    tools: tuple[str, ...] = ()
    """The names of the tools that the request declares."""
    refusal: ProviderRefusal | None = None
    """The provider's reason to refuse the request, or None."""

    @property
    def text(self) -> str:
        """The texts of all entries, each on one or more lines."""
        return "\n".join(entry.text for entry in self.entries)

    @property
    def model(self) -> str:
        """The name of the requested model."""
        return str(self.body.get("model", ""))

    @property
    def is_streaming(self) -> bool:
        """True if the request asks for a stream."""
        return self.body.get("stream") is True

    @property
    def betas(self) -> tuple[str, ...]:
        """The betas that the request opts into (Anthropic)."""
        return betas(self.headers)


def betas(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the betas that a request with these headers opts into (Anthropic)."""
    return tuple(beta.strip() for beta in headers.get("anthropic-beta", "").split(",") if beta.strip())


def objects(value: Json) -> list[JsonObject]:
    """Return the objects in an array; empty if the value is no array."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def obj(value: Json) -> JsonObject:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def string(value: Json) -> str:
    """Return the value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def texts(content: Json, key: str = "text") -> list[str]:
    """Return the texts of a content, which is one text or an array of parts."""
    if isinstance(content, str):
        return [content]
    return [string(part[key]) for part in objects(content) if key in part]
