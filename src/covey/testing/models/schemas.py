"""JSON schemas of tool parameters: an object at the top, and closed objects if the tool is strict."""

from collections.abc import Iterator
from typing import Final

from covey.testing.models.cursor import Cursor

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
