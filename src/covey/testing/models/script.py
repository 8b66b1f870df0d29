"""What a scripted model says: turns of text, thoughts and tool calls, and the ways in which a provider fails."""

import json
from collections.abc import Callable, Iterable
from enum import StrEnum
from secrets import token_hex
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.gate import Gate
from covey.testing.models.request import ModelRequest


class ToolCall(NamedTuple):
    """The model calls a tool."""

    name: str
    arguments: JsonObject | str = "{}"
    """A text goes out as it is, so that a test can play arguments that are no JSON. Anthropic's can't be that."""
    id: str = ""
    """Made up where it is left empty."""


class Thought(NamedTuple):
    """The model thinks: left out where thinking is off, and in OpenAI's chat, which hides thoughts."""

    text: str


Part = str | Thought | ToolCall


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOL_CALLS = "tool calls"
    LENGTH = "length"
    REFUSAL = "refusal"


class Trouble(StrEnum):
    """What ails the provider; each answers it with its own status and body."""

    RATE_LIMITED = "rate limited"
    OVERLOADED = "overloaded"
    INTERNAL = "internal"


class Fail(NamedTuple):
    """The provider fails: at once, or after so many events of a stream."""

    trouble: Trouble
    retry_after: float | None = None
    """Seconds, for the client's next try."""
    after: int = 0


class Cut(NamedTuple):
    """The connection ends without an answer, or after so many events of a stream."""

    after: int = 0


class Hang(NamedTuple):
    """Nothing comes any more, at once or after so many events, until the model is closed."""

    after: int = 0


Ending = Fail | Cut | Hang


class Turn(NamedTuple):
    """One answer of the model; `say` makes one."""

    parts: tuple[Part, ...]
    stop: Stop
    gate: Gate | None = None
    ends: Ending | None = None


Line = Part | Turn | Ending
"""What stands in a script for one request: a text or a tool call is a turn of its own."""

Script = Iterable[Line] | Callable[[ModelRequest], Line]
"""The turns in their order, or a function that is given each request, one at a time, and returns the turn."""


def say(*parts: Part, stop: Stop | None = None, gate: Gate | None = None, ends: Ending | None = None) -> Turn:
    """Make a turn: its parts in their order, let out through `gate`, broken off by `ends`."""
    called = any(isinstance(part, ToolCall) for part in parts)
    return Turn(parts, stop or (Stop.TOOL_CALLS if called else Stop.END), gate, ends)


def as_turn(line: Line) -> Turn | Ending:
    """Return what stands in a script as a turn, unless it is a failure."""
    return say(line) if isinstance(line, str | Thought | ToolCall) else line


def with_ids(turn: Turn, prefix: str) -> Turn:
    """Return the turn with an id for each tool call that has none."""
    parts = (
        part._replace(id=prefix + token_hex(12)) if isinstance(part, ToolCall) and not part.id else part
        for part in turn.parts
    )
    return turn._replace(parts=tuple(parts))


def arguments_text(call: ToolCall) -> str:
    """Return the arguments of a call as they go over the wire."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
