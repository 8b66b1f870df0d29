"""Arguments of a model, checked against a tool's parameters: an error names the mistake and the possible values."""

from collections.abc import Mapping, Sequence
from typing import cast

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject
from covey.core.plain import plain_object
from covey.core.similar import closest
from covey.core.wire import read_json
from covey.toolkits.tool import Arguments, Parameter, Tool
from covey.toolkits.values import fitting


def checked(tool: Tool, sent: object) -> Arguments:
    """Return the arguments of a call. Models send them as an object, or as its JSON text. Null means absent, and so
    does an empty text for an optional parameter, because models fill in parameters that they do not need."""
    known = {parameter.name: parameter for parameter in tool.parameters}
    given: dict[str, Json] = {}
    for name, value in _read(tool, sent).items():
        if value is None:
            continue
        if name not in known:
            raise Invalid("argument", name, _unknown(tool, name, tuple(known)))
        if known[name].is_required or not isinstance(value, str) or value.strip():
            given[name] = value
    fit = {name: fitting(known[name], value) for name, value in given.items()}
    if not tool.has_own_gates:
        _check_complete(tool, fit)
    return fit


def missing(tool: Tool, parameter: Parameter) -> Invalid:
    """Return the error for a required parameter that is missing."""
    return Invalid(parameter.name, None, f"{tool.name} needs it: {parameter.description}")


def _check_complete(tool: Tool, given: Arguments) -> None:
    for parameter in tool.parameters:
        if parameter.is_required and parameter.name not in given:
            raise missing(tool, parameter)


def _read(tool: Tool, sent: object) -> JsonObject:
    if isinstance(sent, str):
        try:
            sent = read_json(sent) if sent.strip() else {}
        except (ValueError, RecursionError):
            raise Invalid("arguments", sent, f"{tool.name} takes a JSON object") from None
    if sent is None:
        return {}
    if not isinstance(sent, Mapping):
        raise Invalid("arguments", sent, f"{tool.name} takes a JSON object")
    return plain_object(cast(object, sent), "arguments")


def _unknown(tool: Tool, name: str, known: Sequence[str]) -> str:
    near = closest(name, known)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"{tool.name} takes {', '.join(known)}" if known else f"{tool.name} takes no arguments"
