"""Cursors: a value of a request, its path in the request, and the provider's wording of errors."""

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn, Protocol

from covey.core.json import Json
from covey.testing.models.refusal import Refusal

Path = tuple[str | int, ...]


class Voice(Protocol):
    """A provider's wording of errors in a request."""

    def missing(self, path: Path) -> Refusal: ...
    def wrong_type(self, path: Path, wanted: str, value: Json) -> Refusal: ...
    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> Refusal: ...
    def unknown(self, path: Path) -> Refusal: ...
    def invalid(self, path: Path, why: str) -> Refusal: ...


class Cursor:
    """A reader of one value, which refuses the request if the value has the wrong type."""

    __slots__ = ("path", "value", "voice")

    def __init__(self, value: Json, voice: Voice, path: Path = ()) -> None:
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
