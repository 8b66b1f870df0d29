"""A request that reached the scripted model: as it came, and as the model would read it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.refusal import Refusal


class Api(StrEnum):
    """What is spoken, by its provider and name."""

    ANTHROPIC_MESSAGES = "anthropic messages"
    OPENAI_CHAT = "openai chat"
    OPENAI_RESPONSES = "openai responses"


class Kind(StrEnum):
    """What an entry is."""

    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    RESULT = "result"


class RequestEntry(NamedTuple):
    """One thing that stands in the model's context."""

    role: str
    """As the request names it; `system`, `assistant` or `tool` where it names none."""
    kind: Kind
    text: str
    """Of a call its arguments."""
    name: str = ""
    """The tool that is called."""
    id: str = ""
    """Of the call, or of the call that a result answers."""


class ModelRequest(NamedTuple):
    """One request, in the order of its coming."""

    number: int
    """From 1."""
    api: Api
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: JsonObject
    """Empty where it was no JSON object."""
    entries: tuple[RequestEntry, ...] = ()
    """What the model reads, in order: also what an earlier response left in the provider's memory."""
    tools: tuple[str, ...] = ()
    """The names of the tools that the request declares."""
    refusal: Refusal | None = None
    """Why the provider does not take it."""

    @property
    def text(self) -> str:
        """Everything that the model reads, one entry a line or more."""
        return "\n".join(entry.text for entry in self.entries)

    @property
    def model(self) -> str:
        """The model that it names."""
        return str(self.body.get("model", ""))

    @property
    def is_streaming(self) -> bool:
        """Whether it asks for a stream."""
        return self.body.get("stream") is True

    @property
    def betas(self) -> tuple[str, ...]:
        """The betas that it opts into (Anthropic)."""
        return betas(self.headers)


def betas(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the betas that a request with these headers opts into (Anthropic)."""
    return tuple(beta.strip() for beta in headers.get("anthropic-beta", "").split(",") if beta.strip())
