"""The webhook: a signed POST for each post, and what its answer means."""

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

from covey.core.channels.channel import ChannelConfig, Style
from covey.core.channels.post import Outgoing, Posted, Refused
from covey.core.channels.signature import Direction, Signed, signature
from covey.core.json import Json
from covey.core.ledger.body import body_of
from covey.core.ledger.message import DataPart, FilePart, Message
from covey.core.ledger.wire import encode_part
from covey.core.limits import POST_SECONDS
from covey.core.times import format_instant
from covey.threads import in_a_thread
from covey.version import __version__

METHOD: Final = "POST"

MAX_ANSWER: Final = 16 * 1024
"""How much of an answer is read; receivers have little to say."""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes
    """Its beginning."""


class Unreachable(Exception):
    """There is no answer: no name, no connection, none in time, or none that is HTTP."""


class Exchange:
    """A POST that can be broken off from another thread. Redirects are not followed: what was signed for one place is
    not for another."""

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

    def run(self) -> Answer:
        """Return the answer, or raise Unreachable."""
        try:
            self._connection.request(METHOD, self._target, self._body, dict(self._headers))
            response = self._connection.getresponse()
            body = response.read(MAX_ANSWER)
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
        except TimeoutError:
            raise Unreachable("no answer in time") from None
        except ssl.SSLError as error:
            raise Unreachable(f"no secure connection: {error.reason or error}") from error
        except (OSError, HTTPException) as error:
            raise Unreachable(f"no answer: {_in_words(error)}") from error
        finally:
            self._connection.close()

    def break_off(self) -> None:
        """End what `run` waits for. Afterwards, or before it has begun, nothing happens."""
        connected = self._connection.sock
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


def target_of(url: str) -> str:
    """Return what a request for a URL names: the path, with what comes after a question mark."""
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


RETRIED: Final = frozenset({408, 409, 425, 429})
"""Besides every 5xx: answers that another time may be different. 409 is what some receivers give to a post whose twin
they are busy with."""

FEISHU_BUSY: Final = frozenset({9499, 11232, 11233, 11247})
"""What Feishu calls too many requests; it says so with 200."""

CONTENT_TYPE: Final = "application/json; charset=utf-8"

MAX_REASON: Final = 200


class WebhookChannel:
    """`Channel`. The exchange has a thread of its own, so that a slow receiver holds nobody up; it is broken off when
    its time is over, or nobody waits for it any more."""

    def __init__(self, config: ChannelConfig, now: Callable[[], datetime], seconds: float = POST_SECONDS) -> None:
        self._config = config
        self._now = now
        self._seconds = seconds

    async def post(self, outgoing: Outgoing) -> Posted | Refused:
        url = self._config.url
        if url is None:
            return Refused("the channel has no URL here: add it again")
        timestamp = str(int(self._now().timestamp()))
        body = body_for(self._config, outgoing, timestamp)
        exchange = Exchange(url, self._headers(outgoing, url, timestamp, body), body, self._seconds)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await in_a_thread(exchange.run, "covey webhook")
        except TimeoutError:
            return Refused(f"no answer within {self._seconds:g} s")
        except Unreachable as error:
            return Refused(str(error))
        finally:
            exchange.break_off()
        return judged(answer, self._config.style, self._now())

    def _headers(self, outgoing: Outgoing, url: str, timestamp: str, body: bytes) -> Mapping[str, str]:
        headers = {
            "Content-Type": CONTENT_TYPE,
            "User-Agent": f"covey/{__version__}",
            "Connection": "close",
            "Idempotency-Key": outgoing.post.id,
            "X-Covey-Timestamp": timestamp,
        }
        if self._config.secret is not None:
            key = outgoing.post.id
            signed = Signed(Direction.POSTED, METHOD, target_of(url), timestamp, key, CONTENT_TYPE, body)
            headers["X-Covey-Signature"] = signature(self._config.secret, signed)
        return headers


def judged(answer: Answer, style: Style, now: datetime) -> Posted | Refused:
    """Return what an answer means for the post."""
    status = answer.status
    if 200 <= status < 300:
        return _judged_feishu(answer) if style is Style.FEISHU else Posted()
    if status in RETRIED or status >= 500:
        return Refused(_reason(answer), retry_after=_retry_after(answer, now))
    if 300 <= status < 400:
        return Refused(f"{status}: it is elsewhere now, and redirects are not followed", is_final=True)
    return Refused(_reason(answer), is_final=True)


def _judged_feishu(answer: Answer) -> Posted | Refused:
    """Feishu answers 200 to everything, with a code in the body that is 0 where it took the post."""
    try:
        said: object = json.loads(answer.body)
    except ValueError:
        return Posted()
    if not isinstance(said, dict):
        return Posted()
    fields = cast(Mapping[str, object], said)
    code = fields.get("code", fields.get("StatusCode", 0))
    if code == 0:
        return Posted()
    return Refused(f"code {code}: {_short(str(fields.get('msg', '')))}", is_final=code not in FEISHU_BUSY)


def _reason(answer: Answer) -> str:
    said = _short(answer.body.decode(errors="replace"))
    return f"{answer.status}: {said}" if said else str(answer.status)


def _short(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_REASON else f"{line[:MAX_REASON]}…"


def _retry_after(answer: Answer, now: datetime) -> timedelta | None:
    """Return how long a receiver wants to be left alone: so many seconds, or until a date."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return timedelta(seconds=min(int(said[:9]), 10**8))
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(until - now, timedelta())
