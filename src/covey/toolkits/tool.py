"""A tool: something that a model may call. It is written once; other modules give it every provider's form."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from covey.core.attention.pending import Instructions
from covey.core.directory.card import Capacity
from covey.core.identity import Identity
from covey.core.json import Json, JsonObject
from covey.core.ledger.offer import Presentation
from covey.core.names import OfferId
from covey.services.space import Services


class ParameterType(StrEnum):
    """The type of a parameter."""

    TEXT = "text"
    WHOLE = "whole"
    """A whole number."""
    NUMBER = "number"
    FLAG = "flag"
    TEXTS = "texts"
    """A list of texts."""
    OBJECT = "object"
    OBJECTS = "objects"
    """A list of objects."""
    MESSAGE = "message"
    """A message: its number in the caller's inbox, or its id. `run` gets a text."""
    MESSAGES = "messages"
    """A list of messages, like `MESSAGE`."""


class Parameter(NamedTuple):
    name: str
    description: str
    form: ParameterType = ParameterType.TEXT
    is_required: bool = False
    choices: tuple[str, ...] = ()
    """The only texts that it takes, if they are limited."""
    schema: JsonObject | None = None
    """The JSON Schema of its objects, if a model has to know it; it replaces the default of the form."""


class ToolAnswer(NamedTuple):
    """The result for a model: a readable text, and the same as data. A wrong call has an answer too: it says what was
    wrong and what is possible."""

    text: str
    data: JsonObject
    is_error: bool = False
    offer: OfferId | None = None
    """The offer whose deliveries the text shows. The surface that learns that the answer reached the model confirms
    it."""


class Caller(NamedTuple):
    """The caller of a tool: an agent, usually in a session, with the services of its space."""

    services: Services
    identity: Identity
    capacity: Capacity | None = None
    """The limit that its toolkit sets for the inbox of its session; None leaves it unchanged."""


Arguments = Mapping[str, Json]
Run = Callable[[Caller, Arguments], Awaitable[ToolAnswer]]
"""Executes a call. Its arguments were checked against the parameters."""


class Tool(NamedTuple):
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Run
    is_read_only: bool = False
    """True if the tool changes nothing that others could notice, so that a client need not ask before a call."""
    is_shared: bool = False
    """True if several toolkits have the tool; a merged toolkit has it once."""
    has_own_gates: bool = False
    """True if `run` checks for missing arguments itself, because the order of its checks was agreed on elsewhere."""


class Toolkit(NamedTuple):
    """A set of tools, with the way in which its users expect mail to behave."""

    name: str
    about: str
    """The purpose in one line, for people who choose a toolkit."""
    instructions: str
    """A few lines that a model should know before it uses the tools."""
    tools: tuple[Tool, ...]
    presentation: Presentation = Presentation.ONCE
    """The rule for how often a model is shown a message."""
    capacity: Capacity | None = None
    """The limit of the inbox of a session that uses it; None for the limit on its agent's card."""
    ways: Instructions = Instructions()
    """The calls with which a model reads more, answers, and handles tasks; empty for those that it has no tool for."""
