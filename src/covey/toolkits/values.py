"""Values as models write them, converted to fit a parameter: numbers and lists as texts, JSON inside of JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.similar import closest
from covey.core.wire import read_json
from covey.toolkits.tool import Form, Parameter

T = TypeVar("T")

EXACT: Final = 2**53
"""Whole numbers below it are the same in every JSON reader."""

_WANTED: Final[Mapping[Form, str]] = {
    Form.TEXT: "a text",
    Form.WHOLE: "a whole number",
    Form.NUMBER: "a number",
    Form.FLAG: "true or false",
    Form.TEXTS: "a list of texts",
    Form.OBJECT: "an object",
    Form.OBJECTS: "a list of objects",
    Form.MESSAGE: "a message's number, such as 3, or its id",
    Form.MESSAGES: "a list of messages' numbers, such as [3, 4], or ids",
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


_READERS: Final[Mapping[Form, Callable[[Json], Json]]] = {
    Form.TEXT: _text,
    Form.WHOLE: _whole,
    Form.NUMBER: _number,
    Form.FLAG: _flag,
    Form.TEXTS: _texts,
    Form.OBJECT: _object,
    Form.OBJECTS: _objects,
    Form.MESSAGE: _message,
    Form.MESSAGES: _messages,
}
