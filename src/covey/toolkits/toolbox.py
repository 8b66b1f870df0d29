"""The toolbox: a toolkit in the hands of one caller, ready for an agent loop."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final, Literal, TypedDict

from covey.core.directory.card import Capacity
from covey.core.errors import CoveyError, Invalid, NotFound, NumberUnknown, RecipientUnknown
from covey.core.json import Json
from covey.toolkits.answers import listed, refused, rendered
from covey.toolkits.arguments import checked
from covey.toolkits.catalogue import tool_named
from covey.toolkits.references import listed_numbers, numbers_of
from covey.toolkits.schemas import DEFAULT_FORMAT, schemas
from covey.toolkits.tool import Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit


async def call(tool: Tool, caller: Caller, sent: object) -> ToolAnswer:
    """Execute a call. An error is returned as an answer, and never raised."""
    try:
        if caller.capacity is not None:
            await caller.services.inbox_limits.hold(caller.identity, caller.capacity)
        return rendered(await tool.run(caller, checked(tool, sent)))
    except RecipientUnknown as error:
        return refused(error, await _whom_else(caller))
    except NumberUnknown as error:
        return refused(error, await _what_else(caller))
    except CoveyError as error:
        return refused(error)


async def _whom_else(caller: Caller) -> str:
    """Return a hint with the agents that can be written to instead."""
    known = [name for name in await caller.services.directory.names() if name != caller.identity.agent]
    return f"Known agents: {listed(known)}." if known else "No other agent is known here yet."


async def _what_else(caller: Caller) -> str:
    """Return a hint with the numbers that can be used instead."""
    try:
        return listed_numbers(await numbers_of(caller))
    except NotFound:  # the caller itself is not known here, so that it has no mail
        return ""


ToolFunction = Callable[..., Awaitable[str]]
"""Takes the tool's parameters by name and returns the answer's text, also for an invalid call."""

_TYPES: Final[Mapping[ParameterType, Any]] = {
    ParameterType.TEXT: str,
    ParameterType.WHOLE: int,
    ParameterType.NUMBER: float,
    ParameterType.FLAG: bool,
    ParameterType.TEXTS: list[str],
    ParameterType.OBJECT: dict[str, Any],
    ParameterType.OBJECTS: list[dict[str, Any]],
    ParameterType.MESSAGE: str | int,
    ParameterType.MESSAGES: list[str | int],
}


def as_function(tool: Tool, caller: Caller) -> ToolFunction:
    """Return a tool as an async function of its own parameters. The required ones come first."""
    ordered = sorted(tool.parameters, key=lambda parameter: not parameter.is_required)
    signature = Signature([_argument(parameter) for parameter in ordered], return_annotation=str)

    async def function(*args: Any, **kwargs: Any) -> str:
        return (await call(tool, caller, {**signature.bind_partial(*args).arguments, **kwargs})).text

    function.__name__ = function.__qualname__ = tool.name
    function.__doc__ = _docstring(tool, ordered)
    function.__annotations__ = {**{name: p.annotation for name, p in signature.parameters.items()}, "return": str}
    function.__dict__["__signature__"] = signature
    return function


def _argument(parameter: Parameter) -> Argument:
    kind: Any = Literal[parameter.choices] if parameter.choices else _TYPES[parameter.form]
    if parameter.is_required:
        return Argument(parameter.name, Argument.POSITIONAL_OR_KEYWORD, annotation=kind)
    return Argument(parameter.name, Argument.POSITIONAL_OR_KEYWORD, annotation=kind | None, default=None)


def _docstring(tool: Tool, parameters: list[Parameter]) -> str:
    """Return the description with those of the parameters, in Google's docstring style."""
    lines = [f"    {parameter.name}: {parameter.description}" for parameter in parameters]
    return "\n".join([tool.description, "", "Args:", *lines]) if lines else tool.description


class ShowingOptions(TypedDict):
    """The showing of mail to a model with certain tools: options of `me.turn` and `me.pending`."""

    presentation: Literal["once", "until_handled"]
    more: str
    rest: str
    answer: str
    decide: str
    task: str
    worker: str
    capacity: Capacity | None


class Toolbox:
    """The tools of one caller, as returned by `me.tools()`: their declarations for a model, and the execution of its
    calls."""

    def __init__(self, toolkit: Toolkit, caller: Caller) -> None:
        self.toolkit = toolkit
        self.caller = caller._replace(capacity=toolkit.capacity)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(tool.name for tool in self.toolkit.tools)

    @property
    def instructions(self) -> str:
        """A few lines for the system prompt of a model that gets the tools."""
        return self.toolkit.instructions

    @property
    def showing(self) -> ShowingOptions:
        """The options with which a turn shows mail to a model that has these tools: `me.turn(**tools.showing)`."""
        ways = self.toolkit.ways
        return {
            "presentation": self.toolkit.presentation.value,
            "more": ways.more,
            "rest": ways.rest,
            "answer": ways.answer,
            "decide": ways.decide,
            "task": ways.task,
            "worker": ways.worker,
            "capacity": self.toolkit.capacity,
        }

    def schemas(self, form: str = DEFAULT_FORMAT) -> list[Mapping[str, Json]]:
        """Return the tools as a request declares them: for `anthropic`, `openai` (chat), `openai-responses` or
        `mcp`."""
        return schemas(self.toolkit, form)

    async def call(self, name: object, arguments: object = None) -> ToolAnswer:
        """Execute a call of a model. Whatever it sends, there is an answer that it can act on; arguments may be an
        object or its JSON text."""
        try:
            tool = tool_named(self.toolkit, name)
        except Invalid as error:
            return refused(error)
        return await call(tool, self.caller, arguments)

    def functions(self) -> list[ToolFunction]:
        """Return the tools as typed async functions, for frameworks that take such."""
        return [as_function(tool, self.caller) for tool in self.toolkit.tools]

    def __repr__(self) -> str:
        return f"<Toolbox {self.toolkit.name} of {self.caller.identity.agent}: {', '.join(self.names)}>"
