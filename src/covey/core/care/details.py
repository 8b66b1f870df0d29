"""Event details: typed reads of a journal event's data. Wrong data raises Invalid, so that a reader of a damaged
journal can go on."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.evidence import Extent, parse_extent

T = TypeVar("T")


def known(value: T | None, name: str) -> T:
    """Return a value that every event of the kind must have. Raise Invalid if it is missing."""
    if value is None:
        raise Invalid(name, None, "every event of this kind has it")
    return value


def text(details: Mapping[str, Json], name: str) -> str:
    """Return the text `name` of an event's details."""
    value = details.get(name)
    if not isinstance(value, str):
        raise Invalid(name, value, "it is not a text")
    return value


def count(details: Mapping[str, Json], name: str) -> int:
    """Return the count `name` of an event's details: a whole number that is not negative."""
    value = details.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Invalid(name, value, "it is not a count")
    return value


def agree(details: Mapping[str, Json], name: str, expected: str) -> None:
    """Raise Invalid if the value `name` of an event differs from the one that follows from earlier events."""
    found = text(details, name)
    if found != expected:
        raise Invalid(name, found, f"it would be {expected}")


def text_or_none(details: Mapping[str, Json], name: str) -> str | None:
    """Return the text `name` of an event's details, or None if it is missing."""
    return None if details.get(name) is None else text(details, name)


def texts(details: Mapping[str, Json], name: str) -> Sequence[str]:
    """Return the list of texts `name` of an event's details."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, str) for item in value):
        raise Invalid(name, value, "it is not a list of texts")
    return [item for item in value if isinstance(item, str)]


def entries(details: Mapping[str, Json], name: str) -> Sequence[Mapping[str, Json]]:
    """Return the list of objects `name` of an event's details."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, Mapping) for item in value):
        raise Invalid(name, value, "it is not a list of objects")
    return [item for item in value if isinstance(item, Mapping)]


def extents(details: Mapping[str, Json], many: int) -> Sequence[Extent | None]:
    """Return the shown extent of each delivery, in their order. Events of older versions have no extents: return None
    for each."""
    value = details.get("extents")
    if value is None:
        return [None] * many
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != many:
        raise Invalid("extents", value, f"it is not a list of {many}")
    return [None if item is None else parse_extent(list(item) if isinstance(item, tuple) else item) for item in value]
