"""The messages of a request, read alike whichever provider they are for: who speaks, what is called, what is answered.

They may be plain data or objects of a provider's SDK. Nothing here changes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, cast


class Provider(StrEnum):
    """Whose form a list of messages has."""

    ANTHROPIC = "anthropic"
    """`messages` of the Messages API."""

    OPENAI = "openai"
    """`messages` of the Chat Completions API."""

    OPENAI_RESPONSES = "openai-responses"
    """`input` of the Responses API, as a list."""


class Who(StrEnum):
    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    """Only the results of tools; where they stand in a user's message, the user speaks."""
    SYSTEM = "system"


class Piece(NamedTuple):
    """One item of a list."""

    who: Who
    calls: frozenset[str] = frozenset()
    """The ids of the tool calls that it makes and that somebody must answer."""
    results: frozenset[str] = frozenset()
    """The ids of the calls that it answers."""
    thinks: bool = False


def field(item: object, name: str) -> object:
    """Return a field of plain data or of an object; None where it has none."""
    return cast(Mapping[str, object], item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def blocks(item: object) -> Sequence[object]:
    """Return the parts that the content of a message has; a text has none."""
    return sequence(field(item, "content"))


def sequence(value: object) -> Sequence[object]:
    """Return a list as such; anything else is an empty one."""
    return cast(Sequence[object], value) if isinstance(value, list | tuple) else ()


class Pieces:
    """A list as pieces, each read when it is looked at: only its end matters, and a list can be long."""

    def __init__(self, items: Sequence[object], provider: Provider) -> None:
        self._items = items
        self._provider = provider

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: int) -> Piece:
        return read(self._items[at], self._provider)


def read(item: object, provider: Provider) -> Piece:
    """Return one item of a provider's list as a piece."""
    if provider is Provider.ANTHROPIC:
        return _anthropic(item)
    return _chat(item) if provider is Provider.OPENAI else _responses(item)


def _anthropic(item: object) -> Piece:
    parts = [(field(part, "type"), part) for part in blocks(item)]
    if not parts:
        return Piece(_speaker(item))
    return Piece(
        who=_speaker(item),
        calls=_ids((part for kind, part in parts if kind == "tool_use"), "id"),
        results=_ids((part for kind, part in parts if kind == "tool_result"), "tool_use_id"),
        thinks=any(kind in ("thinking", "redacted_thinking") for kind, _ in parts),
    )


def _chat(item: object) -> Piece:
    return Piece(
        who=_speaker(item),
        calls=_ids(sequence(field(item, "tool_calls")), "id"),
        results=_ids((item,), "tool_call_id"),
    )


def _responses(item: object) -> Piece:
    kind = field(item, "type")
    if kind is None or kind == "message":
        return Piece(_speaker(item))
    if isinstance(kind, str) and kind.endswith("_output"):
        return Piece(Who.TOOL, results=_ids((item,), "call_id"))
    return Piece(Who.MODEL, calls=_ids((item,), "call_id"), thinks=kind == "reasoning")


def _speaker(item: object) -> Who:
    role = field(item, "role")
    if role == "user":
        return Who.USER
    if role in ("tool", "function"):
        return Who.TOOL
    return Who.SYSTEM if role in ("system", "developer") else Who.MODEL


def _ids(items: Iterable[object], name: str) -> frozenset[str]:
    found = [field(item, name) for item in items]
    return frozenset([value for value in found if isinstance(value, str)])
