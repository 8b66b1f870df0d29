"""Arguments of a model, checked against a tool's parameters: an error names the mistake and the possible values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar, cast

from covey.core.checks import plain_object
from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject
from covey.core.ledger.wire import read_json
from covey.core.reporting import closest
from covey.toolkits.tool import Arguments, Parameter, ParameterType, Tool

T = TypeVar("T")

EXACT: Final = 2**53
"""Whole numbers below it are the same in every JSON reader."""

_WANTED: Final[Mapping[ParameterType, str]] = {
    ParameterType.TEXT: "a text",
    ParameterType.WHOLE: "a whole number",
    ParameterType.NUMBER: "a number",
    ParameterType.FLAG: "true or false",
    ParameterType.TEXTS: "a list of texts",
    ParameterType.OBJECT: "an object",
    ParameterType.OBJECTS: "a list of objects",
    ParameterType.MESSAGE: "a message's number, such as 3, or its id",
    ParameterType.MESSAGES: "a list of messages' numbers, such as [3, 4], or ids",
}


def fitting(parameter: Parameter, value: Json) -> Json:
    """Return a value that fits the parameter. A value in another notation is converted. Raise Invalid for anything
    else."""
    understood = _READERS[parameter.form](value)
    if understood is None:
        raise Invalid(parameter.name, value, f"use {_WANTED[parameter.form]} ({parameter.description})")
    if parameter.choices and understood not in parameter.choices:
        near = closest(str(value), parameter.choices)
        raise Invalid(parameter.name, value, f"use {' or '.join(near or parameter.choices)}")
    return understood


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Json) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < EXACT else None  # neither infinite nor "not a number"


def _whole(value: Json) -> int | None:
    number = _number(value.removeprefix("#") if isinstance(value, str) else value)  # "#3": as messages are shown
    return int(number) if number is not None and int(number) == number else None


def _flag(value: Json) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _texts(value: Json) -> Sequence[str] | None:
    found = _list(value, _text)
    return found if found is not None or not isinstance(value, str) else [value]


def _object(value: Json) -> Mapping[str, Json] | None:
    value = _unpacked(value, "{")
    return value if isinstance(value, Mapping) else None


def _objects(value: Json) -> Sequence[Mapping[str, Json]] | None:
    value = _unpacked(value, "[")
    return _list([value] if _object(value) is not None else value, _object)


def _message(value: Json) -> str | None:
    if isinstance(value, str):
        return value.strip().removeprefix("#") or None
    number = _whole(value)
    return None if number is None else str(number)


def _messages(value: Json) -> Sequence[str] | None:
    value = _unpacked(value, "[")
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    return _list(value if isinstance(value, list | tuple) else [value], _message)


def _list(value: Json, read: Callable[[Json], T | None]) -> list[T] | None:
    value = _unpacked(value, "[")
    if not isinstance(value, list | tuple):
        return None
    found = [item for item in map(read, cast(Sequence[Json], value)) if item is not None]
    return found if len(found) == len(value) else None


def _unpacked(value: Json, opening: str) -> Json:
    """Parse a JSON text inside of JSON; return every other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return value
    try:
        return cast(Json, read_json(value))
    except (ValueError, RecursionError):
        return value


_READERS: Final[Mapping[ParameterType, Callable[[Json], Json]]] = {
    ParameterType.TEXT: _text,
    ParameterType.WHOLE: _whole,
    ParameterType.NUMBER: _number,
    ParameterType.FLAG: _flag,
    ParameterType.TEXTS: _texts,
    ParameterType.OBJECT: _object,
    ParameterType.OBJECTS: _objects,
    ParameterType.MESSAGE: _message,
    ParameterType.MESSAGES: _messages,
}


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


LONGEST_WAIT: Final = 25.0
"""Seconds. Clients give up on a tool call that takes half a minute."""


def given_text(arguments: Arguments, name: str) -> str | None:
    """Return a text argument; None if it is missing or blank."""
    value = arguments.get(name)
    return value if isinstance(value, str) and value.strip() else None


def given_texts(arguments: Arguments, name: str) -> Sequence[str]:
    """Return the texts of a list argument that are not blank."""
    values = cast(Sequence[str], arguments.get(name) or ())
    return [value for value in values if value.strip()]


def given_seconds(arguments: Arguments, name: str, usual: float) -> float:
    """Return the seconds to wait: the given value within the limits, or the default."""
    value = arguments.get(name)
    return min(max(value, 0.0), LONGEST_WAIT) if isinstance(value, int | float) else usual
