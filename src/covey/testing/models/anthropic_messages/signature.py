"""Signatures of thoughts: proof that the model had a thought, and after which conversation.

A signature carries no secret. A test can write one by hand, and the model accepts it.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.lenient import objects

_MARK = "scripted"


class Signature(NamedTuple):
    """Digests of the signed parts. With an empty `prefix`, the conversation is not checked."""

    thought: str
    prefix: str = ""
    """The digest of everything that was sent before the thought."""
    previous: str = ""
    """The digest of the signature of the thought before this one."""

    def encoded(self) -> str:
        """Return the signature as sent over the wire."""
        return base64.b64encode(":".join((_MARK, *self)).encode()).decode()


def decoded(text: str) -> Signature | None:
    """Decode a signature. Return None if the text is no signature."""
    try:
        mark, *fields = base64.b64decode(text, validate=True).decode().split(":")
    except (binascii.Error, ValueError):
        return None
    return Signature(*fields) if mark == _MARK and len(fields) == len(Signature._fields) else None


def thinking_signature(thinking: str) -> str:
    """Sign a thought for any conversation, for tests that write a history by hand."""
    return Signature(digest(thinking)).encoded()


def digest(value: Json) -> str:
    """Return a short digest of JSON, independent of the order of keys."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def prefix_digest(body: JsonObject, before: Sequence[Speech]) -> str:
    """Return the digest of all that precedes a thought: system prompt, tools, and the turns before its own."""
    tools = [_plain(tool) for tool in objects(body.get("tools")) if tool.get("defer_loading") is not True]
    system = body.get("system")
    return digest(
        [
            system if isinstance(system, str) else [_plain(block) for block in objects(system)],
            sorted(tools, key=digest),
            [[speech.role, list(_spoken(speech))] for speech in before],
        ]
    )


def _spoken(speech: Speech) -> Iterable[JsonObject]:
    for block in speech.blocks:
        if block.type not in {"thinking", "redacted_thinking"}:
            yield _plain(block.at.fields())


def _plain(fields: Mapping[str, Json]) -> JsonObject:
    """Leave out `cache_control`, which a client may move freely."""
    return {name: value for name, value in fields.items() if name != "cache_control"}
