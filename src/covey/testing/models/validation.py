"""Validation of requests: cursors over values, with the provider's wording of errors, and rules for tool schemas."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NoReturn, Protocol

from covey.core.json import Json
from covey.testing.models.request import ProviderRefusal

Path = tuple[str | int, ...]


class ErrorWording(Protocol):
    """A provider's wording of errors in a request."""

    def missing(self, path: Path) -> ProviderRefusal: ...
    def wrong_type(self, path: Path, wanted: str, value: Json) -> ProviderRefusal: ...
    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> ProviderRefusal: ...
    def unknown(self, path: Path) -> ProviderRefusal: ...
    def invalid(self, path: Path, why: str) -> ProviderRefusal: ...


class Cursor:
    """A reader of one value, which refuses the request if the value has the wrong type."""

    __slots__ = ("path", "value", "voice")

    def __init__(self, value: Json, voice: ErrorWording, path: Path = ()) -> None:
        self.value = value
        self.voice = voice
        self.path = path

    def fields(self) -> Mapping[str, Json]:
        """Read an object."""
        if isinstance(self.value, Mapping):
            return self.value
        raise self.voice.wrong_type(self.path, "an object", self.value)

    def need(self, name: str) -> "Cursor":
        """Return a field that must be there."""
        if name not in self.fields():
            raise self.voice.missing((*self.path, name))
        return self._at(name, self.fields()[name])

    def get(self, name: str) -> "Cursor | None":
        """Return a field, or None if the field is absent or null."""
        value = self.fields().get(name)
        return None if value is None else self._at(name, value)

    def only(self, names: Collection[str]) -> None:
        """Refuse fields with names that are not in `names`."""
        for name in self.fields():
            if name not in names:
                raise self.voice.unknown((*self.path, name))

    def items(self) -> "list[Cursor]":
        """Read an array."""
        if isinstance(self.value, Sequence) and not isinstance(self.value, str):
            return [self._at(place, item) for place, item in enumerate(self.value)]
        raise self.voice.wrong_type(self.path, "an array", self.value)

    def text(self) -> str:
        if isinstance(self.value, str):
            return self.value
        raise self.voice.wrong_type(self.path, "a string", self.value)

    def integer(self) -> int:
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        raise self.voice.wrong_type(self.path, "an integer", self.value)

    def number(self) -> float:
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return self.value
        raise self.voice.wrong_type(self.path, "a number", self.value)

    def boolean(self) -> bool:
        if isinstance(self.value, bool):
            return self.value
        raise self.voice.wrong_type(self.path, "a boolean", self.value)

    def one_of(self, *options: str) -> str:
        """Read a text that must be one of `options`."""
        value = self.text()
        if value not in options:
            raise self.voice.not_one_of(self.path, value, options)
        return value

    def refuse(self, why: str) -> NoReturn:
        """Refuse the request because of this value."""
        raise self.voice.invalid(self.path, why)

    def _at(self, step: str | int, value: Json) -> "Cursor":
        return Cursor(value, self.voice, (*self.path, step))


def named(value: Json) -> str:
    """Name the JSON type of a value, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case _:
            return "an array"


_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_CHOICES: Final = ("oneOf", "anyOf", "allOf")


def check_parameters(schema: Cursor, *, is_strict: bool, needs_all: bool = False) -> None:
    """Refuse a schema that no provider accepts for the parameters of a tool.

    In a strict schema every object must be closed. With `needs_all`, every property of such an object must be required.
    """
    if schema.need("type").value != "object":
        schema.refuse(f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {schema.fields()['type']!r}'")
    for name in _CHOICES:
        if name in schema.fields():
            schema.refuse(f"input_schema does not support {name} at the top level")
    _check(schema, is_strict, needs_all)


def _check(schema: Cursor, is_strict: bool, needs_all: bool) -> None:
    if isinstance(schema.value, bool):
        return
    kind = schema.get("type")
    kinds = () if kind is None else (kind,) if isinstance(kind.value, str) else kind.items()
    for each in kinds:
        each.one_of(*_TYPES)
    properties = schema.get("properties")
    required = schema.get("required")
    names = [name.text() for name in required.items()] if required else []
    if is_strict and any(each.value == "object" for each in kinds):
        _check_closed(schema, set(properties.fields()) if properties else set(), set(names), needs_all)
    for part in _parts(schema, properties):
        _check(part, is_strict, needs_all)


def _parts(schema: Cursor, properties: Cursor | None) -> Iterator[Cursor]:
    """Yield the schemas within a schema."""
    if properties is not None:
        yield from (properties.need(name) for name in properties.fields())
    if "items" in schema.fields():
        yield schema.need("items")
    for word in _CHOICES:
        if branches := schema.get(word):
            yield from branches.items()


def _check_closed(schema: Cursor, properties: set[str], required: set[str], needs_all: bool) -> None:
    if schema.fields().get("additionalProperties") is not False:
        schema.refuse("For 'object' type, 'additionalProperties' must be explicitly set to false")
    if unknown := sorted(required - properties):
        schema.refuse(f"'required' names what is not in 'properties': {', '.join(unknown)}")
    if needs_all and (missing := sorted(properties - required)):
        schema.refuse(f"'required' must include every key in properties. Missing {', '.join(missing)}")
