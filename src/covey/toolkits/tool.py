"""A tool: something that a model may call. It is written once; other modules give it every provider's form."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from covey.core.attention import Ways
from covey.core.capacity import Capacity
from covey.core.identity import Identity
from covey.core.ids import OfferId
from covey.core.json import Json, JsonObject
from covey.core.offer import Presentation
from covey.services.space import Services


class Form(StrEnum):
    """What a parameter takes."""

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
    """A list of these."""


class Parameter(NamedTuple):
    name: str
    description: str
    form: Form = Form.TEXT
    is_required: bool = False
    choices: tuple[str, ...] = ()
    """The only texts that it takes, where there are such."""
    schema: JsonObject | None = None
    """What its objects look like, where a model has to know: JSON Schema, instead of what the form says by itself."""


class Answer(NamedTuple):
    """What a model gets back: a text that reads well, and the same as data. A wrong call is an answer too: it says what
    was wrong and what is possible."""

    text: str
    data: JsonObject
    is_error: bool = False
    offer: OfferId | None = None
    """The offer whose deliveries the text shows. Whoever learns that the answer reached the model confirms it."""


class Caller(NamedTuple):
    """Who calls: an agent, mostly from a session, with the services of its space."""

    services: Services
    identity: Identity
    capacity: Capacity | None = None
    """The limit that its toolkit gives to the inbox of its session; None leaves it as it is."""


Arguments = Mapping[str, Json]
Run = Callable[[Caller, Arguments], Awaitable[Answer]]
"""Carries a call out. Its arguments fit the parameters: they were checked."""


class Tool(NamedTuple):
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Run
    is_read_only: bool = False
    """It changes nothing that others could notice, so that a client need not ask before it is called."""
    is_shared: bool = False
    """Several toolkits have it; where they are given together, it is there once."""
    has_own_gates: bool = False
    """`run` says itself what is missing, because the order of its checks was agreed on elsewhere."""


class Toolkit(NamedTuple):
    """A set of tools, with how its users expect mail to behave."""

    name: str
    about: str
    """What it is for: one line, for people who choose one."""
    instructions: str
    """What a model should know before it uses the tools: a few lines."""
    tools: tuple[Tool, ...]
    presentation: Presentation = Presentation.ONCE
    """How often a model that uses it is shown a message."""
    capacity: Capacity | None = None
    """What the inbox of a session that uses it holds; None for what its agent's card says."""
    ways: Ways = Ways()
    """How a model that uses it reads more, answers, and deals with tasks; one that can't do that is given none."""
