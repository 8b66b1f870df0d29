"""The webhook channel: a signed POST request for each post, and the interpretation of its answer."""

import asyncio
import hmac
import json
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from covey.core.channels.channel import ChannelConfig, WebhookStyle
from covey.core.channels.post import OutgoingPost, PostAcceptance, PostRefusal
from covey.core.http import SignatureDirection, SignedFields, signature
from covey.core.json import Json
from covey.core.ledger.message import DataPart, FilePart, Message, body_of
from covey.core.ledger.wire import encode_part
from covey.core.limits import POST_SECONDS
from covey.core.times import format_instant
from covey.threads import in_a_thread
from covey.version import __version__

METHOD: Final = "POST"

MAX_ANSWER: Final = 16 * 1024
"""The largest number of bytes of an answer that are read: answers are short."""


class WebhookResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: bytes
    """The beginning of the body."""


class Unreachable(Exception):
    """There is no answer: the name is unknown, the connection fails, the time is over, or the answer is not HTTP."""


class WebhookRequest:
    """A POST request that another thread can abort. Redirects are not followed: a request that was signed for one URL
    is not meant for another."""

    def __init__(self, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> None:
        parts = urlsplit(url)
        self._target = target_of(url)
        self._headers = headers
        self._body = body
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection = HTTPSConnection(host, parts.port, timeout=seconds, context=context)
        else:
            self._connection = HTTPConnection(host, parts.port, timeout=seconds)

    def run(self) -> WebhookResponse:
        """Return the answer, or raise Unreachable."""
        try:
            self._connection.request(METHOD, self._target, self._body, dict(self._headers))
            response = self._connection.getresponse()
            body = response.read(MAX_ANSWER)
            return WebhookResponse(
                response.status, {name.lower(): value for name, value in response.getheaders()}, body
            )
        except TimeoutError:
            raise Unreachable("no answer in time") from None
        except ssl.SSLError as error:
            raise Unreachable(f"no secure connection: {error.reason or error}") from error
        except (OSError, HTTPException) as error:
            raise Unreachable(f"no answer: {_in_words(error)}") from error
        finally:
            self._connection.close()

    def break_off(self) -> None:
        """Abort the wait in `run`. This has no effect before `run` has connected, or after it has ended."""
        connected = self._connection.sock
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


def target_of(url: str) -> str:
    """Return the request target of a URL: the path with the query."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


def _in_words(error: OSError | HTTPException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


SLACK_CHARS: Final = 40_000
DISCORD_CHARS: Final = 2_000
FEISHU_BYTES: Final = 18_000
"""A request to Feishu is at most 20 KB."""

CUT: Final = "… (cut; the whole message is {id})"


def body_for(config: ChannelConfig, outgoing: OutgoingPost, timestamp: str) -> bytes:
    """Return the body of the request that carries a post, as JSON."""
    return json.dumps(_BODIES[config.style](config, outgoing, timestamp), ensure_ascii=False).encode()


def _generic(_config: ChannelConfig, outgoing: OutgoingPost, _timestamp: str) -> Mapping[str, Json]:
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


def _slack(_config: ChannelConfig, outgoing: OutgoingPost, _timestamp: str) -> Mapping[str, Json]:
    # Slack interprets three characters. Escaped, they make no mention and no link.
    text = _words(outgoing.message).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": cut(text, SLACK_CHARS, outgoing.message)}


def _discord(_config: ChannelConfig, outgoing: OutgoingPost, _timestamp: str) -> Mapping[str, Json]:
    text = cut(_words(outgoing.message), DISCORD_CHARS, outgoing.message)
    return {"content": text, "allowed_mentions": {"parse": []}}


def _feishu(config: ChannelConfig, outgoing: OutgoingPost, timestamp: str) -> Mapping[str, Json]:
    # Feishu interprets this tag as a mention, perhaps of everyone. With a space it is shown as text.
    text = _words(outgoing.message).replace("<at", "< at")
    content: Mapping[str, Json] = {"text": _cut_bytes(text, FEISHU_BYTES, outgoing.message)}
    signed: Mapping[str, Json] = (
        {"timestamp": timestamp, "sign": feishu_sign(config.secret, timestamp)} if config.secret is not None else {}
    )
    return {**signed, "msg_type": "text", "content": content}


_BODIES: Final[Mapping[WebhookStyle, Callable[[ChannelConfig, OutgoingPost, str], Mapping[str, Json]]]] = {
    WebhookStyle.GENERIC: _generic,
    WebhookStyle.SLACK: _slack,
    WebhookStyle.DISCORD: _discord,
    WebhookStyle.FEISHU: _feishu,
}


def feishu_sign(secret: str, timestamp: str) -> str:
    """Return the field `sign` that a custom bot of Feishu checks: the HMAC of an empty message, with the timestamp and
    the secret as key."""
    return b64encode(hmac.new(f"{timestamp}\n{secret}".encode(), b"", sha256).digest()).decode()


def _words(message: Message) -> str:
    """Return a message as text for people: the sender, the state of the task, and all parts."""
    task = f" [task {message.task.state}]" if message.task is not None and message.task.state else ""
    return f"{message.sender.agent}:{task} {body_of(message)}"


def cut(text: str, length: int, message: Message) -> str:
    """Return the text, cut to at most `length` characters. A cut text ends with a note."""
    note = CUT.format(id=message.id)
    return text if len(text) <= length else text[: length - len(note)] + note


def _cut_bytes(text: str, size: int, message: Message) -> str:
    """Return the text, cut until it takes at most `size` bytes as JSON."""
    while (over := len(json.dumps(text, ensure_ascii=False).encode()) - size) > 0:
        # A round removes at least as many characters as the excess has at 6 bytes each, the widest form in JSON. So few
        # rounds are needed.
        text = cut(text, max(len(text) - max(over // 6, 1), 100), message)
    return text


RETRIED: Final = frozenset({408, 409, 425, 429})
"""Statuses, besides every 5xx, after which a retry may succeed. Some receivers answer 409 while they process the same
post from an earlier attempt."""

FEISHU_BUSY: Final = frozenset({9499, 11232, 11233, 11247})
"""Feishu's codes for too many requests, which it sends with status 200."""

CONTENT_TYPE: Final = "application/json; charset=utf-8"

MAX_REASON: Final = 200


class WebhookChannel:
    """`Channel`. Each request runs on a thread of its own, so that a slow receiver delays no other work. The request is
    aborted when its time is over, or when the caller is cancelled."""

    def __init__(self, config: ChannelConfig, now: Callable[[], datetime], seconds: float = POST_SECONDS) -> None:
        self._config = config
        self._now = now
        self._seconds = seconds

    async def post(self, outgoing: OutgoingPost) -> PostAcceptance | PostRefusal:
        url = self._config.url
        if url is None:
            return PostRefusal("the channel has no URL here: add it again")
        timestamp = str(int(self._now().timestamp()))
        body = body_for(self._config, outgoing, timestamp)
        exchange = WebhookRequest(url, self._headers(outgoing, url, timestamp, body), body, self._seconds)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await in_a_thread(exchange.run, "covey webhook")
        except TimeoutError:
            return PostRefusal(f"no answer within {self._seconds:g} s")
        except Unreachable as error:
            return PostRefusal(str(error))
        finally:
            exchange.break_off()
        return judged(answer, self._config.style, self._now())

    def _headers(self, outgoing: OutgoingPost, url: str, timestamp: str, body: bytes) -> Mapping[str, str]:
        headers = {
            "Content-Type": CONTENT_TYPE,
            "User-Agent": f"covey/{__version__}",
            "Connection": "close",
            "Idempotency-Key": outgoing.post.id,
            "X-Covey-Timestamp": timestamp,
        }
        if self._config.secret is not None:
            key = outgoing.post.id
            signed = SignedFields(SignatureDirection.POSTED, METHOD, target_of(url), timestamp, key, CONTENT_TYPE, body)
            headers["X-Covey-Signature"] = signature(self._config.secret, signed)
        return headers


def judged(answer: WebhookResponse, style: WebhookStyle, now: datetime) -> PostAcceptance | PostRefusal:
    """Return the outcome of a post, by its answer."""
    status = answer.status
    if 200 <= status < 300:
        return _judged_feishu(answer) if style is WebhookStyle.FEISHU else PostAcceptance()
    if status in RETRIED or status >= 500:
        return PostRefusal(_reason(answer), retry_after=_retry_after(answer, now))
    if 300 <= status < 400:
        return PostRefusal(f"{status}: it redirects, and redirects are not followed", is_final=True)
    return PostRefusal(_reason(answer), is_final=True)


def _judged_feishu(answer: WebhookResponse) -> PostAcceptance | PostRefusal:
    """Return the outcome of a post by the code in the body. Feishu answers every request with status 200, and with the
    code 0 if it accepted the post."""
    try:
        said: object = json.loads(answer.body)
    except ValueError:
        return PostAcceptance()
    if not isinstance(said, dict):
        return PostAcceptance()
    fields = cast(Mapping[str, object], said)
    code = fields.get("code", fields.get("StatusCode", 0))
    if code == 0:
        return PostAcceptance()
    return PostRefusal(f"code {code}: {_short(str(fields.get('msg', '')))}", is_final=code not in FEISHU_BUSY)


def _reason(answer: WebhookResponse) -> str:
    said = _short(answer.body.decode(errors="replace"))
    return f"{answer.status}: {said}" if said else str(answer.status)


def _short(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_REASON else f"{line[:MAX_REASON]}…"


def _retry_after(answer: WebhookResponse, now: datetime) -> timedelta | None:
    """Return the delay before a retry that the receiver asks for, in seconds or by a date; None if it asks for none."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return timedelta(seconds=min(int(said[:9]), 10**8))
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(until - now, timedelta())
