"""Scripts of a model: turns of text, thoughts and tool calls, failures of a provider, and gates that delay turns."""

import json
from collections.abc import Callable, Iterable
from enum import StrEnum
from secrets import token_hex
from threading import Condition
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.request import ModelRequest


class Gate:
    """A gate, closed at first. A plain answer passes as one event."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._permits = 0
        self._is_open = False
        self._is_abandoned = False

    def let(self, events: int = 1) -> None:
        """Let a number of events pass, now or as soon as they come."""
        with self._condition:
            self._permits += events
            self._condition.notify_all()

    def open(self) -> None:
        """Let everything pass from now on."""
        with self._condition:
            self._is_open = True
            self._condition.notify_all()

    def abandon(self) -> None:
        """Wake all waiting threads without a permit: the model is being closed."""
        with self._condition:
            self._is_abandoned = True
            self._condition.notify_all()

    def wait(self) -> bool:
        """Wait for a permit for one event. Return False if the gate was abandoned."""
        with self._condition:
            self._condition.wait_for(lambda: self._is_open or self._permits > 0 or self._is_abandoned)
            if self._is_abandoned:
                return False
            self._permits -= 0 if self._is_open else 1
            return True


class ToolCall(NamedTuple):
    """A tool call of the model."""

    name: str
    arguments: JsonObject | str = "{}"
    """A text is sent as it is, so that a test can play arguments that are no JSON. Anthropic's API can't carry such
    arguments."""
    id: str = ""
    """The id of the call; generated if empty."""


class Thought(NamedTuple):
    """A thought of the model; left out if thinking is off, and in OpenAI's chat API, which hides thoughts."""

    text: str


Part = str | Thought | ToolCall


class Stop(StrEnum):
    """The reason why the model stopped."""

    END = "end"
    TOOL_CALLS = "tool calls"
    LENGTH = "length"
    REFUSAL = "refusal"


class Trouble(StrEnum):
    """A failure of the provider, which each provider reports with its own status and body."""

    RATE_LIMITED = "rate limited"
    OVERLOADED = "overloaded"
    INTERNAL = "internal"


class Fail(NamedTuple):
    """A failure of the provider: at once, or after a number of events of a stream."""

    trouble: Trouble
    retry_after: float | None = None
    """The seconds until the client should retry."""
    after: int = 0


class Cut(NamedTuple):
    """The end of the connection without an answer, or after a number of events of a stream."""

    after: int = 0


class Hang(NamedTuple):
    """A stall until the model is closed: at once, or after a number of events."""

    after: int = 0


Ending = Fail | Cut | Hang


class ModelTurn(NamedTuple):
    """One answer of the model; `say` makes one."""

    parts: tuple[Part, ...]
    stop: Stop
    gate: Gate | None = None
    ends: Ending | None = None


Line = Part | ModelTurn | Ending
"""The script's answer to one request. A text, a thought or a tool call is a turn of its own."""

Script = Iterable[Line] | Callable[[ModelRequest], Line]
"""The answers in order, or a function that is called with one request at a time and returns the answer."""


def say(*parts: Part, stop: Stop | None = None, gate: Gate | None = None, ends: Ending | None = None) -> ModelTurn:
    """Make a turn from its parts, released through `gate` and interrupted by `ends`."""
    called = any(isinstance(part, ToolCall) for part in parts)
    return ModelTurn(parts, stop or (Stop.TOOL_CALLS if called else Stop.END), gate, ends)


def as_turn(line: Line) -> ModelTurn | Ending:
    """Return a line of a script as a turn; a failure is returned unchanged."""
    return say(line) if isinstance(line, str | Thought | ToolCall) else line


def with_ids(turn: ModelTurn, prefix: str) -> ModelTurn:
    """Return the turn with an id for each tool call that has none."""
    parts = (
        part._replace(id=prefix + token_hex(12)) if isinstance(part, ToolCall) and not part.id else part
        for part in turn.parts
    )
    return turn._replace(parts=tuple(parts))


def arguments_text(call: ToolCall) -> str:
    """Return the arguments of a call as sent over the wire."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
