"""Conversations: the messages of a request and their content blocks, merged into turns in the right order of roles."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.validation import Cursor

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_CACHED: Final = {"type", "cache_control"}
_FIELDS: Final[dict[str, set[str]]] = {
    "text": {*_CACHED, "text", "citations"},
    "image": {*_CACHED, "source", "transformations"},
    "document": {*_CACHED, "source", "citations", "context", "title"},
    "tool_use": {*_CACHED, "id", "name", "input", "caller", "toolset_name"},
    "tool_result": {*_CACHED, "tool_use_id", "content", "is_error", "toolset_name"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
SERVER_RESULTS: Final = {
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "mcp_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
}
_ASSISTANT: Final = {"tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", *SERVER_RESULTS}
_USER: Final = {"image", "document", "search_result", "tool_result", "container_upload"}
_EITHER: Final = {"text", "compaction", "fallback", "mcp_tool_listing"}
_SYSTEM: Final = {"text", "tool_addition", "tool_removal"}
_TYPES: Final = {"assistant": _ASSISTANT | _EITHER, "user": _USER | _EITHER, "system": _SYSTEM}
_IN_RESULTS: Final = {"text", "image", "document", "search_result", "tool_reference", "browser_state"}


class Block(NamedTuple):
    """One block: its type, and a cursor for the rules about conversations."""

    type: str
    at: Cursor

    def field(self, name: str) -> str:
        """Return a field that is a text."""
        return self.at.need(name).text()


def read_blocks(content: Cursor, role: str, *, has_betas: bool) -> list[Block]:
    """Read the content of a message. A text counts as one block."""
    if isinstance(content.value, str):
        if not content.value:
            return []
        blocks = [Cursor({"type": "text", "text": content.value}, content.voice, content.path)]
    else:
        blocks = content.items()
    return [_read_block(block, role, has_betas) for block in blocks]


def _read_block(at: Cursor, role: str, has_betas: bool) -> Block:
    kind = at.need("type").text()
    if kind not in _TYPES[role]:
        homes = [home for home, kinds in _TYPES.items() if kind in kinds]
        if not homes:
            raise at.voice.not_one_of((*at.path, "type"), kind, sorted(_TYPES[role]))
        at.refuse(f"`{kind}` blocks can only be in `{homes[0]}` messages")
    # A beta may add fields that are not known here.
    if kind in _FIELDS and not has_betas:
        at.only(_FIELDS[kind])
    _check_cache_control(at)
    _CHECKS.get(kind, _nothing)(at)
    return Block(kind, at)


def _nothing(at: Cursor) -> None:
    pass


def _text(at: Cursor) -> None:
    text = at.need("text").text()
    if not text:
        at.refuse("text content blocks must be non-empty")
    if not text.strip():
        at.refuse("text content blocks must contain non-whitespace text")


def _source(at: Cursor) -> None:
    source = at.need("source")
    match source.need("type").one_of("base64", "content", "file", "text", "url"):
        case "base64" | "text":
            source.need("media_type").text()
            source.need("data").text()
        case "url":
            source.need("url").text()
        case "file":
            source.need("file_id").text()
        case _:
            source.need("content")


def _thinking(at: Cursor) -> None:
    at.need("thinking").text()
    at.need("signature").text()


def _redacted(at: Cursor) -> None:
    if not at.need("data").text():
        at.refuse("Invalid `data` in `redacted_thinking` block")


def _tool_use(at: Cursor) -> None:
    _check_id(at.need("id"))
    if not at.need("name").text():
        at.need("name").refuse("String should have at least 1 character")
    at.need("input").fields()


def _tool_result(at: Cursor) -> None:
    _check_id(at.need("tool_use_id"))
    failed = at.get("is_error")
    content = at.get("content")
    is_error = failed is not None and failed.boolean()
    if content is None or isinstance(content.value, str):
        return
    for part in content.items():
        kind = part.need("type").one_of(*sorted(_IN_RESULTS))
        if is_error and kind != "text":
            part.refuse('all content must be type "text" if `is_error` is true')
        _check_cache_control(part)
        _CHECKS.get(kind, _nothing)(part)


def _check_id(at: Cursor) -> None:
    if not _ID.fullmatch(at.text()):
        at.refuse("String should match pattern '^[a-zA-Z0-9_-]+$'")


def _check_cache_control(at: Cursor) -> None:
    control = at.get("cache_control")
    if control is not None:
        control.need("type").one_of("ephemeral")
        if ttl := control.get("ttl"):
            ttl.one_of("5m", "1h")


_CHECKS: Final = {
    "text": _text,
    "image": _source,
    "document": _source,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}


class Speech(NamedTuple):
    """One turn: consecutive messages of one role, merged."""

    role: str
    blocks: tuple[Block, ...]
    at: Cursor
    """The first message of the turn."""

    def of(self, *types: str) -> list[Block]:
        """Return the turn's blocks of these types."""
        return [block for block in self.blocks if block.type in types]

    @property
    def is_paused(self) -> bool:
        """True if the turn ends in the result of a provider's own tool. Such a turn goes on."""
        return bool(self.blocks) and self.blocks[-1].type in SERVER_RESULTS


def read_conversation(body: Cursor, able: Abilities, *, has_betas: bool) -> list[Speech]:
    """Read the messages. Refuse them if they are no valid conversation."""
    messages = body.need("messages").items()
    if not messages:
        body.need("messages").refuse("at least one message is required")
    speeches = [_read(message, able, has_betas) for message in messages]
    for place, speech in enumerate(speeches):
        is_last = place == len(speeches) - 1
        if not speech.blocks and not (is_last and speech.role == "assistant") and not _sets_effort_only(speech):
            speech.at.refuse("all messages must have non-empty content except for the optional final assistant message")
    merged = _merged([speech for speech in speeches if not _sets_effort_only(speech)])
    _check_order(merged, body)
    return merged


def _read(message: Cursor, able: Abilities, has_betas: bool) -> Speech:
    role = message.need("role").one_of("user", "assistant", "system")
    if role == "system" and not able.takes_system_turns:
        message.refuse("role 'system' is not supported on this model")
    extra = {"clear_at", "output_config"} if has_betas and role == "system" else set[str]()
    message.only({"role", "content", *extra})
    return Speech(role, tuple(read_blocks(message.need("content"), role, has_betas=has_betas)), message)


def _sets_effort_only(speech: Speech) -> bool:
    return speech.role == "system" and not speech.blocks and speech.at.get("output_config") is not None


def _merged(speeches: Sequence[Speech]) -> list[Speech]:
    merged: list[Speech] = []
    for role, group in groupby(speeches, key=lambda speech: speech.role):
        first, *rest = group
        merged.append(Speech(role, sum((speech.blocks for speech in rest), first.blocks), first.at))
    return merged


def _check_order(speeches: Sequence[Speech], body: Cursor) -> None:
    if speeches and speeches[0].role != "user":
        body.need("messages").refuse('first message must use the "user" role')
    for before, speech in pairwise(speeches):
        if speech.role == "system" and before.role != "user" and not before.is_paused:
            speech.at.refuse("a system message must immediately follow a user turn")
        if before.role == "system" and speech.role != "assistant":
            before.at.refuse("a system message must precede an assistant turn or end the conversation")
