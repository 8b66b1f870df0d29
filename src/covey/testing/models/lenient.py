"""Reading JSON that may be anything: what does not fit is left out."""

from collections.abc import Mapping, Sequence

from covey.core.json import Json, JsonObject


def objects(value: Json) -> list[JsonObject]:
    """Return the objects of an array."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def obj(value: Json) -> JsonObject:
    """Return an object."""
    return value if isinstance(value, Mapping) else {}


def string(value: Json) -> str:
    """Return a text."""
    return value if isinstance(value, str) else ""


def texts(content: Json, key: str = "text") -> list[str]:
    """Return the texts of content that is a text, or an array of parts."""
    if isinstance(content, str):
        return [content]
    return [string(part[key]) for part in objects(content) if key in part]
