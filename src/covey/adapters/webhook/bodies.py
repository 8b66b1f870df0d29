"""Bodies: a post as receivers of each style take it."""

import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from covey.core.attention_body import body_of
from covey.core.channel import ChannelConfig, Style
from covey.core.json import Json
from covey.core.message import Message
from covey.core.parts import DataPart, FilePart
from covey.core.post import Outgoing
from covey.core.times import format_instant
from covey.core.wire import encode_part

SLACK_CHARS: Final = 40_000
DISCORD_CHARS: Final = 2_000
FEISHU_BYTES: Final = 18_000
"""A request to Feishu is at most 20 KB."""

CUT: Final = "… (cut; the whole message is {id})"


def body_for(config: ChannelConfig, outgoing: Outgoing, timestamp: str) -> bytes:
    """Return the body of the request that carries a post, as JSON."""
    return json.dumps(_BODIES[config.style](config, outgoing, timestamp), ensure_ascii=False).encode()


def _generic(_config: ChannelConfig, outgoing: Outgoing, _timestamp: str) -> Mapping[str, Json]:
    post, message = outgoing
    callback = message.callback
    return {
        "id": post.id,
        "channel": post.channel,
        "conversation": post.conversation,
        "message": message.id,
        "thread": message.thread,
        "in_reply_to": message.in_reply_to,
        "kind": str(message.kind),
        "from": {"agent": message.sender.agent, "grade": str(message.sender.grade)},
        "to": [address.value for address in message.to],
        "created_at": format_instant(message.created_at),
        "expects_reply": message.expects_reply,
        "subject": message.subject,
        "scope": message.scope,
        "text": message.text,
        "data": [part.data for part in message.parts if isinstance(part, DataPart)],
        "files": [encode_part(part._replace(path=None)) for part in message.parts if isinstance(part, FilePart)],
        "task": None if message.task is None else {"id": message.task.id, "state": message.task.state},
        "callback": None if callback is None else {"channel": callback.channel, "session_id": callback.session_id},
    }


def _slack(_config: ChannelConfig, outgoing: Outgoing, _timestamp: str) -> Mapping[str, Json]:
    # Three characters that Slack reads: escaped, nothing in them is a mention or a link.
    text = _words(outgoing.message).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": cut(text, SLACK_CHARS, outgoing.message)}


def _discord(_config: ChannelConfig, outgoing: Outgoing, _timestamp: str) -> Mapping[str, Json]:
    text = cut(_words(outgoing.message), DISCORD_CHARS, outgoing.message)
    return {"content": text, "allowed_mentions": {"parse": []}}


def _feishu(config: ChannelConfig, outgoing: Outgoing, timestamp: str) -> Mapping[str, Json]:
    # A tag that Feishu reads as a mention, of everyone perhaps, is shown instead.
    text = _words(outgoing.message).replace("<at", "< at")
    content: Mapping[str, Json] = {"text": _cut_bytes(text, FEISHU_BYTES, outgoing.message)}
    signed: Mapping[str, Json] = (
        {"timestamp": timestamp, "sign": feishu_sign(config.secret, timestamp)} if config.secret is not None else {}
    )
    return {**signed, "msg_type": "text", "content": content}


_BODIES: Final[Mapping[Style, Callable[[ChannelConfig, Outgoing, str], Mapping[str, Json]]]] = {
    Style.GENERIC: _generic,
    Style.SLACK: _slack,
    Style.DISCORD: _discord,
    Style.FEISHU: _feishu,
}


def feishu_sign(secret: str, timestamp: str) -> str:
    """Return the field `sign` that a custom bot of Feishu checks: nothing is signed, with the timestamp and the secret
    as key."""
    return b64encode(hmac.new(f"{timestamp}\n{secret}".encode(), b"", sha256).digest()).decode()


def _words(message: Message) -> str:
    """Return a message as people read it: who says it, how its task fares, and all its parts."""
    task = f" [task {message.task.state}]" if message.task is not None and message.task.state else ""
    return f"{message.sender.agent}:{task} {body_of(message)}"


def cut(text: str, length: int, message: Message) -> str:
    """Return a text of at most so many characters; one that was cut says so."""
    note = CUT.format(id=message.id)
    return text if len(text) <= length else text[: length - len(note)] + note


def _cut_bytes(text: str, size: int, message: Message) -> str:
    """Return a text that takes at most so many bytes as JSON."""
    while (over := len(json.dumps(text, ensure_ascii=False).encode()) - size) > 0:
        # Each round takes away at least what is over at the widest, and so there are few.
        text = cut(text, max(len(text) - max(over // 6, 1), 100), message)
    return text
