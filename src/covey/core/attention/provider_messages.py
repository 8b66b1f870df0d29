"""A uniform view of the messages of a request, for all providers: the speaker, the tool calls and their results.

The messages may be plain data or objects of a provider's SDK. This module does not change them.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, cast


class Provider(StrEnum):
    """The format of a list of messages."""

    ANTHROPIC = "anthropic"
    """`messages` of the Messages API."""

    OPENAI = "openai"
    """`messages` of the Chat Completions API."""

    OPENAI_RESPONSES = "openai-responses"
    """`input` of the Responses API, as a list."""


class Speaker(StrEnum):
    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    """An item with only the results of tools. If results are in a user's message, the speaker is USER."""
    SYSTEM = "system"


class MessageItem(NamedTuple):
    """One item of a list of messages."""

    who: Speaker
    calls: frozenset[str] = frozenset()
    """The ids of the tool calls in the item, which need results."""
    results: frozenset[str] = frozenset()
    """The ids of the calls whose results are in the item."""
    thinks: bool = False


def field(item: object, name: str) -> object:
    """Return a field of plain data or of an object, or None."""
    return cast(Mapping[str, object], item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def blocks(item: object) -> Sequence[object]:
    """Return the parts of a message's content; a text has none."""
    return sequence(field(item, "content"))


def sequence(value: object) -> Sequence[object]:
    """Return `value` if it is a list or tuple, otherwise an empty sequence."""
    return cast(Sequence[object], value) if isinstance(value, list | tuple) else ()


class MessageItems:
    """A list of messages as pieces, read lazily: only the end matters, and a list can be long."""

    def __init__(self, items: Sequence[object], provider: Provider) -> None:
        self._items = items
        self._provider = provider

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: int) -> MessageItem:
        return read(self._items[at], self._provider)


def read(item: object, provider: Provider) -> MessageItem:
    """Return one item of a provider's list as a piece."""
    if provider is Provider.ANTHROPIC:
        return _anthropic(item)
    return _chat(item) if provider is Provider.OPENAI else _responses(item)


def _anthropic(item: object) -> MessageItem:
    parts = [(field(part, "type"), part) for part in blocks(item)]
    if not parts:
        return MessageItem(_speaker(item))
    return MessageItem(
        who=_speaker(item),
        calls=_ids((part for kind, part in parts if kind == "tool_use"), "id"),
        results=_ids((part for kind, part in parts if kind == "tool_result"), "tool_use_id"),
        thinks=any(kind in ("thinking", "redacted_thinking") for kind, _ in parts),
    )


def _chat(item: object) -> MessageItem:
    return MessageItem(
        who=_speaker(item),
        calls=_ids(sequence(field(item, "tool_calls")), "id"),
        results=_ids((item,), "tool_call_id"),
    )


def _responses(item: object) -> MessageItem:
    kind = field(item, "type")
    if kind is None or kind == "message":
        return MessageItem(_speaker(item))
    if isinstance(kind, str) and kind.endswith("_output"):
        return MessageItem(Speaker.TOOL, results=_ids((item,), "call_id"))
    return MessageItem(Speaker.MODEL, calls=_ids((item,), "call_id"), thinks=kind == "reasoning")


def _speaker(item: object) -> Speaker:
    role = field(item, "role")
    if role == "user":
        return Speaker.USER
    if role in ("tool", "function"):
        return Speaker.TOOL
    return Speaker.SYSTEM if role in ("system", "developer") else Speaker.MODEL


def _ids(items: Iterable[object], name: str) -> frozenset[str]:
    found = [field(item, name) for item in items]
    return frozenset([value for value in found if isinstance(value, str)])
