"""Tools as typed Python functions: name, signature, annotations and docstring, for frameworks that read these."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final, Literal

from covey.toolkits.call import call
from covey.toolkits.tool import Caller, Form, Parameter, Tool

ToolFunction = Callable[..., Awaitable[str]]
"""Takes the tool's parameters by name and returns the answer's text, also for an invalid call."""

_TYPES: Final[Mapping[Form, Any]] = {
    Form.TEXT: str,
    Form.WHOLE: int,
    Form.NUMBER: float,
    Form.FLAG: bool,
    Form.TEXTS: list[str],
    Form.OBJECT: dict[str, Any],
    Form.OBJECTS: list[dict[str, Any]],
    Form.MESSAGE: str | int,
    Form.MESSAGES: list[str | int],
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
