"""Details: what an event of the journal says, read with care, because a damaged journal must not stop its reader."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from covey.core.errors import Invalid
from covey.core.extent import Extent, parse_extent
from covey.core.json import Json

T = TypeVar("T")


def known(value: T | None, name: str) -> T:
    """Return what an event must say."""
    if value is None:
        raise Invalid(name, None, "an event says it")
    return value


def text(details: Mapping[str, Json], name: str) -> str:
    """Return a text."""
    value = details.get(name)
    if not isinstance(value, str):
        raise Invalid(name, value, "it is not a text")
    return value


def count(details: Mapping[str, Json], name: str) -> int:
    """Return a number of things."""
    value = details.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Invalid(name, value, "it is not a count")
    return value


def agree(details: Mapping[str, Json], name: str, expected: str) -> None:
    """Raise Invalid where an event says something else than follows from those before it."""
    found = text(details, name)
    if found != expected:
        raise Invalid(name, found, f"it would be {expected}")


def text_or_none(details: Mapping[str, Json], name: str) -> str | None:
    """Return a text that may be missing."""
    return None if details.get(name) is None else text(details, name)


def texts(details: Mapping[str, Json], name: str) -> Sequence[str]:
    """Return a list of texts."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, str) for item in value):
        raise Invalid(name, value, "it has other things than texts in it")
    return [item for item in value if isinstance(item, str)]


def entries(details: Mapping[str, Json], name: str) -> Sequence[Mapping[str, Json]]:
    """Return a list of objects."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, Mapping) for item in value):
        raise Invalid(name, value, "it has other things than objects in it")
    return [item for item in value if isinstance(item, Mapping)]


def extents(details: Mapping[str, Json], many: int) -> Sequence[Extent | None]:
    """Return how much of each delivery was shown, in their order. Events of older versions do not say it."""
    value = details.get("extents")
    if value is None:
        return [None] * many
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != many:
        raise Invalid("extents", value, f"it is not a list of {many}")
    return [None if item is None else parse_extent(list(item) if isinstance(item, tuple) else item) for item in value]
