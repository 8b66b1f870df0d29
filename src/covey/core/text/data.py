"""Escaped data: JSON data for a model, with every text in it made harmless."""

from collections.abc import Mapping, Sequence
from typing import cast

from covey.core.json import Json, JsonObject
from covey.core.text.escape import still_harmless


def harmless_data(value: Json) -> Json:
    """Return data with every text and every key made harmless. A text that is harmless already stays unchanged."""
    if isinstance(value, str):
        return still_harmless(value)
    if isinstance(value, Mapping):
        return harmless_object(value)
    if isinstance(value, list | tuple):
        return [harmless_data(item) for item in cast(Sequence[Json], value)]
    return value


def harmless_object(fields: JsonObject) -> dict[str, Json]:
    """Return an object with every text and every key made harmless."""
    return {still_harmless(name): harmless_data(value) for name, value in fields.items()}
