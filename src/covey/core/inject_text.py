"""Injected text in a user's message: adding, recognising and removing it, so that the message is as it was."""

from collections.abc import Mapping
from typing import Any, Final, cast

from covey.core.inject_pieces import Provider, blocks, field
from covey.core.render import FRAME_BEGIN, FRAME_END

_GAP: Final = "\n\n"
"""The separator between the user's words and the injected text. A message that was made for the text has none."""

_TEXT: Final = {
    Provider.ANTHROPIC: "text",
    Provider.OPENAI: "text",
    Provider.OPENAI_RESPONSES: "input_text",
}


def new_message(text: str) -> dict[str, Any]:
    """Return a message of the user with only this text."""
    return {"role": "user", "content": text}


def with_text(message: object, text: str, provider: Provider) -> dict[str, Any] | None:
    """Return a copy of a message with text at its end; None if text can't be added to its content."""
    if not isinstance(message, Mapping):
        return None
    fields = cast(Mapping[str, object], message)
    content = fields.get("content")
    if isinstance(content, str):
        return {**fields, "content": f"{content}{_GAP}{text}"}
    if isinstance(content, list | tuple):
        added = {"type": _TEXT[provider], "text": text}
        parts = blocks(fields)
        return {**fields, "content": [*parts, added] if isinstance(content, list) else (*parts, added)}
    return None


def has_text(message: object) -> bool:
    """Tell whether a message of the user ends with an injected text. A model's repetition of the text does not
    count."""
    if not isinstance(message, Mapping):
        return False
    fields = cast(Mapping[str, object], message)
    content = fields.get("content")
    if fields.get("role") != "user":
        return False
    if isinstance(content, str):
        return content.endswith(FRAME_END) and (_is_alone(content) or _GAP + FRAME_BEGIN in content)
    parts = blocks(fields)
    return bool(parts) and _is_ours(parts[-1])


def without_text(message: object) -> dict[str, Any] | None:
    """Return a copy of a message without its injected text; None if the message was made for the text."""
    fields = cast(Mapping[str, object], message)
    content = fields["content"]
    if not isinstance(content, str):
        return {**fields, "content": blocks(fields)[:-1]}
    if _is_alone(content):
        return None
    # The injected text does not contain the begin mark again, so the last mark is its beginning.
    return {**fields, "content": content[: content.rindex(_GAP + FRAME_BEGIN)]}


def _is_alone(content: str) -> bool:
    return content.startswith(FRAME_BEGIN) and content.count(FRAME_BEGIN) == 1


def _is_ours(block: object) -> bool:
    text = field(block, "text")
    return isinstance(text, str) and text.startswith(FRAME_BEGIN) and text.endswith(FRAME_END)
