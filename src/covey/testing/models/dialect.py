"""Dialects: the valid requests, the refusals and the answers of one API of a provider."""

import json
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from covey.core.json import Json, JsonObject
from covey.testing.models.request import Api, ModelRequest, ProviderRefusal, RequestEntry
from covey.testing.models.script import ModelTurn, Trouble

PIECE = 12
"""The number of characters of a text in one event of a stream."""


class StreamEvent(NamedTuple):
    """One server-sent event."""

    data: JsonObject | str
    name: str = ""

    def encoded(self) -> bytes:
        """Return the event as sent over the wire."""
        name = f"event: {self.name}\n" if self.name else ""
        data = self.data if isinstance(self.data, str) else encode(self.data)
        return f"{name}data: {data}\n\n".encode(errors="replace")


class ModelAnswer(NamedTuple):
    """One answer, whole and as a stream."""

    body: JsonObject
    events: tuple[StreamEvent, ...]


class Dialect(Protocol):
    """One API of a provider. A dialect keeps the provider's memory of earlier requests: the ids that it gave, and
    stored responses."""

    api: Api
    path: str
    request_id_header: str

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        """Refuse a request without a key. If `key` is given, refuse any other key too."""
        ...

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        """Refuse a request that the provider would refuse."""
        ...

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        """Return the entries of the model's context, as far as the request can be parsed."""
        ...

    def answer(self, turn: ModelTurn, request: ModelRequest) -> ModelAnswer:
        """Return the turn in the format of the API."""
        ...

    def failure(self, refusal: ProviderRefusal, request_id: str) -> JsonObject:
        """Return the body of an error."""
        ...

    def trouble(self, trouble: Trouble) -> ProviderRefusal:
        """Return the provider's error for a failure of its own."""
        ...

    def broken(self, trouble: Trouble, answer: ModelAnswer, sent: int) -> StreamEvent:
        """Return the event with which a stream reports a failure of the provider, after `sent` other events."""
        ...


def encode(value: Json) -> str:
    """Encode JSON as providers do: without spaces, and without escapes for non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pieces(text: str) -> list[str]:
    """Split a text into the pieces of a stream."""
    return [text[begin : begin + PIECE] for begin in range(0, len(text), PIECE)]


def tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    return max(1, len(text) // 4)
