"""Lenient reading of JSON: values of the wrong type are left out."""

from collections.abc import Mapping, Sequence

from covey.core.json import Json, JsonObject


def objects(value: Json) -> list[JsonObject]:
    """Return the objects in an array; empty if the value is no array."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def obj(value: Json) -> JsonObject:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def string(value: Json) -> str:
    """Return the value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def texts(content: Json, key: str = "text") -> list[str]:
    """Return the texts of a content, which is one text or an array of parts."""
    if isinstance(content, str):
        return [content]
    return [string(part[key]) for part in objects(content) if key in part]
