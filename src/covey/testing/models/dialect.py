"""A dialect: what one API of a provider takes, refuses and answers."""

import json
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from covey.core.json import Json, JsonObject
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, ModelRequest, RequestEntry
from covey.testing.models.script import Trouble, Turn

PIECE = 12
"""So many characters of a text go into one event of a stream."""


class Event(NamedTuple):
    """One server-sent event."""

    data: JsonObject | str
    name: str = ""

    def encoded(self) -> bytes:
        """Return it as it goes over the wire."""
        name = f"event: {self.name}\n" if self.name else ""
        data = self.data if isinstance(self.data, str) else encode(self.data)
        return f"{name}data: {data}\n\n".encode(errors="replace")


class Answer(NamedTuple):
    """One answer, whole and as a stream."""

    body: JsonObject
    events: tuple[Event, ...]


class Dialect(Protocol):
    """Keeps what the provider would remember of earlier requests: the ids that it gave, and stored responses."""

    api: Api
    path: str
    request_id_header: str

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        """Refuse who brings no key, and where `key` is given, who brings another."""
        ...

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        """Refuse a request that the provider would not take."""
        ...

    def read(self, body: JsonObject) -> tuple[RequestEntry, ...]:
        """Return what the model reads, as far as the request can be understood."""
        ...

    def answer(self, turn: Turn, request: ModelRequest) -> Answer:
        """Return the turn as the provider words it."""
        ...

    def failure(self, refusal: Refusal, request_id: str) -> JsonObject:
        """Return the body of an error."""
        ...

    def trouble(self, trouble: Trouble) -> Refusal:
        """Return how the provider words that it is in trouble."""
        ...

    def broken(self, trouble: Trouble, answer: Answer, sent: int) -> Event:
        """Return the event by which a stream tells that the provider has failed, after so many others."""
        ...


def encode(value: Json) -> str:
    """Write JSON as providers do: without spaces, and every character as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pieces(text: str) -> list[str]:
    """Cut a text as it comes in a stream."""
    return [text[begin : begin + PIECE] for begin in range(0, len(text), PIECE)]


def tokens(text: str) -> int:
    """Guess how many tokens a text has."""
    return max(1, len(text) // 4)
