"""The parts of a message: text, data and files."""

from typing import NamedTuple

from covey.core.json import Json


class TextPart(NamedTuple):
    text: str


class DataPart(NamedTuple):
    data: Json


class FilePart(NamedTuple):
    """A snapshot: `digest` names the bytes as they were when the message was accepted."""

    name: str
    digest: str
    size: int
    media_type: str = "application/octet-stream"
    path: str | None = None
    """The path of the file on the sender's side: a hint that Covey never reads."""


Part = TextPart | DataPart | FilePart


def text_of(parts: tuple[Part, ...]) -> str:
    """Return all text of a message, parts separated by an empty line."""
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def has_files(parts: tuple[Part, ...]) -> bool:
    """Tell whether a file is among the parts."""
    return FilePart in map(type, parts)
