"""Requests to the scripted model: as received, and as entries of the model's context."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.refusal import Refusal


class Api(StrEnum):
    """The API of a request, by its provider and name."""

    ANTHROPIC_MESSAGES = "anthropic messages"
    OPENAI_CHAT = "openai chat"
    OPENAI_RESPONSES = "openai responses"


class Kind(StrEnum):
    """The kind of an entry."""

    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    RESULT = "result"


class RequestEntry(NamedTuple):
    """One entry of the model's context."""

    role: str
    """The role in the request; `system`, `assistant` or `tool` if the request names none."""
    kind: Kind
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
    refusal: Refusal | None = None
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
