"""The messages of a chat: the valid content of each role, and an answer to each tool call before other messages."""

import re
from collections.abc import Callable
from typing import Final

from covey.testing.models.cursor import Cursor
from covey.testing.models.openai import check_name, refuse_empty
from covey.testing.models.refusal import Refusal

_PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")
_LONGEST_CALL_ID: Final = 40
_FIELDS: Final[dict[str, set[str]]] = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role",
        "content",
        "name",
        "refusal",
        "annotations",
        "audio",
        "function_call",
        "tool_calls",
    },
    "tool": {"role", "content", "name", "tool_call_id"},
    "function": {"role", "content", "name"},
}
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}


def check_messages(messages: Cursor) -> None:
    """Refuse messages that are no valid chat."""
    refuse_empty(messages)
    waiting: list[str] = []
    asked: list[str] = []
    for message in messages.items():
        role = message.need("role").one_of("system", "assistant", "user", "function", "tool", "developer")
        message.only(_FIELDS[role])
        _check_participant(message.get("name"))
        if role == "tool":
            _check_answer(message, asked, waiting)
            continue
        _refuse_unanswered(waiting, message)
        asked = _check_said(message, role)
        waiting = [*asked]
    _refuse_unanswered(waiting, messages)


def _check_participant(name: Cursor | None) -> None:
    if name is not None and not _PARTICIPANT.fullmatch(name.text()):
        name.refuse("string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.")


def _check_answer(message: Cursor, asked: list[str], waiting: list[str]) -> None:
    call_id = message.need("tool_call_id").text()
    if not asked:
        message.need("role").refuse(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
    if call_id not in asked:
        message.need("tool_call_id").refuse(
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
        )
    _check_content(message.need("content"), "tool")
    if call_id in waiting:
        waiting.remove(call_id)


def _refuse_unanswered(waiting: list[str], at: Cursor) -> None:
    if waiting:
        at.refuse(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
        )


def _check_said(message: Cursor, role: str) -> list[str]:
    """Check a message, and return the ids of its tool calls."""
    if role == "function":
        message.need("name").text()
        message.need("content")
        return []
    calls = message.get("tool_calls") if role == "assistant" else None
    is_optional = role == "assistant" and (calls or message.get("function_call") or message.get("refusal"))
    content = message.get("content") if is_optional else message.need("content")
    if content is not None:
        _check_content(content, role)
    if calls is None:
        return []
    refuse_empty(calls)
    return [_check_call(call) for call in calls.items()]


def _check_content(content: Cursor, role: str) -> None:
    if isinstance(content.value, str):
        return
    if content.value is None or isinstance(content.value, int | float):
        raise content.voice.wrong_type(content.path, "one of a string or array of objects", content.value)
    refuse_empty(content)
    for part in content.items():
        _PART_CHECKS[part.need("type").one_of(*_PARTS[role])](part)


def _text(part: Cursor) -> None:
    part.need("text").text()


def _image(part: Cursor) -> None:
    part.need("image_url").need("url").text()


def _refusal(part: Cursor) -> None:
    part.need("refusal").text()


def _audio(part: Cursor) -> None:
    part.need("input_audio").need("data").text()


def _file(part: Cursor) -> None:
    part.need("file").fields()


_PART_CHECKS: Final[dict[str, Callable[[Cursor], None]]] = {
    "text": _text,
    "image_url": _image,
    "refusal": _refusal,
    "input_audio": _audio,
    "file": _file,
}


def _check_call(call: Cursor) -> str:
    """Check a tool call and return its id."""
    at = call.need("id")
    if len(at.text()) > _LONGEST_CALL_ID:
        raise Refusal(
            f"Invalid 'tool_calls[].id': string too long. Expected a string with maximum length {_LONGEST_CALL_ID}, "
            f"but got a string with length {len(at.text())} instead.",
            code="string_above_max_length",
        )
    if call.need("type").one_of("function", "custom") == "function":
        check_name(call.need("function").need("name"))
        call.need("function").need("arguments").text()
    else:
        call.need("custom").need("name").text()
        call.need("custom").need("input").text()
    return at.text()
