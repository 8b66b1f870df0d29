"""Requests to a NATS server: the JetStream API, and low-latency requests on the link's loop.

The JetStream API has plain subjects and JSON. A reply is a value or the server's error. nats-py hands each message to a
task of its own, which would add turns of the loop to every wait for a commit. Low-latency requests have neither a queue
nor a task between the socket and the caller.
"""

import asyncio
import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.errors import APIError

from covey.adapters.nats.client.steady import SteadyClient, heard_at_once
from covey.core.coroutine import finish
from covey.core.json import Json


class StreamMessage(NamedTuple):
    """A message as a stream keeps it."""

    subject: str
    seq: int
    at: str
    """Time at which the server stored the message, by the server's clock."""
    headers: Mapping[str, str]
    data: bytes


LOOK_S = 0.5
"""Timeout of a direct read, before the leader is asked. Every replica of the stream answers some of the direct reads.
Until the cluster notices that a replica is cut off, the reads that go to that replica are lost."""
END_OF_BATCH = 204
NOT_FOUND = 404
WRONG_LAST_SEQUENCE = frozenset({10071, 10164})
STREAM_EXISTS = 10058
NO_SUCH_STREAM = 10059


async def ask(client: Client, verb: str, body: Mapping[str, Json] | None, limit_s: float) -> dict[str, Any]:
    """Return the reply to a request such as STREAM.INFO.name; raise APIError if the server refuses."""
    payload = b"" if body is None else json.dumps(body).encode()
    answer = await client.request(f"$JS.API.{verb}", payload, timeout=limit_s)
    return _checked(answer.data)


async def publish(client: Client, subject: str, data: bytes, headers: Mapping[str, str] | None, limit_s: float) -> int:
    """Store a message, and return its sequence number."""
    answer = await client.request(subject, data, timeout=limit_s, headers=dict(headers) if headers else None)
    return stored_at(answer)


def stored_at(answer: Msg) -> int:
    """Return the sequence number of a stored message from the server's reply."""
    return int(_checked(answer.data)["seq"])


async def last_of(client: Client, stream: str, subject: str, limit_s: float) -> StreamMessage | None:
    """Return the newest message on a subject of a stream that allows direct reads, or None."""
    answer = await client.request(f"$JS.API.DIRECT.GET.{stream}.{subject}", b"", timeout=limit_s)
    return _stored(answer)


async def surely_last_of(client: Client, stream: str, subject: str, limit_s: float) -> StreamMessage | None:
    """Like `last_of`, but confirm a missing message with the leader, because a lagging replica may have answered."""
    with suppress(TimeoutError):
        found = await last_of(client, stream, subject, min(limit_s, LOOK_S))
        if found is not None:
            return found
    return await from_leader(client, stream, {"last_by_subj": subject}, limit_s)


async def from_leader(client: Client, stream: str, body: Mapping[str, Json], limit_s: float) -> StreamMessage | None:
    """Return one message as the stream's leader has it, or None."""
    try:
        said = await ask(client, f"STREAM.MSG.GET.{stream}", body, limit_s)
    except APIError as error:
        if error.code == NOT_FOUND:
            return None
        raise
    message = said["message"]
    return StreamMessage(
        message["subject"],
        int(message["seq"]),
        message["time"],
        _headers(b64decode(message.get("hdrs", ""))),
        b64decode(message.get("data", "")),
    )


def _headers(raw: bytes) -> Mapping[str, str]:
    """Parse stored headers: a version line, then one line for each header."""
    pairs = (line.partition(":") for line in raw.decode(errors="replace").split("\r\n")[1:] if line)
    return {name.strip(): value.strip() for name, _, value in pairs}


async def fetched(client: Client, stream: str, body: Mapping[str, Json], limit_s: float) -> list[StreamMessage]:
    """Return a batch of messages in stream order: at most the request's `batch`. `limit_s` is the timeout of each
    message."""
    inbox = client.new_inbox()
    subscription = await subscribed(client, inbox)
    found: list[StreamMessage] = []
    try:
        await client.publish(f"$JS.API.DIRECT.GET.{stream}", json.dumps(body).encode(), reply=inbox)
        while (stored := _stored(await subscription.next_msg(timeout=limit_s))) is not None:
            found.append(stored)
        return found
    finally:
        await subscription.unsubscribe()


async def subscribed(
    client: Client, subject: str, hear: Callable[[Msg], Awaitable[None]] | None = None, queue: str = ""
) -> Subscription:
    """Subscribe to a subject. Messages go to `hear`, or into the subscription's queue, which has no bound."""
    listen = cast(Callable[..., Awaitable[Subscription]], client.subscribe)  # pyright: ignore[reportUnknownMemberType] # a parameter has no type
    return await listen(subject, queue, hear, pending_msgs_limit=0, pending_bytes_limit=0)


def _stored(answer: Msg) -> StreamMessage | None:
    """Return the message of a direct read's reply; None if there is no message, or the batch has ended."""
    headers = dict(cast(Mapping[str, str], answer.headers or {}))
    status = headers.get("Status")
    if status is None:
        return StreamMessage(
            headers["Nats-Subject"], int(headers["Nats-Sequence"]), headers["Nats-Time-Stamp"], headers, answer.data
        )
    if int(status) in (NOT_FOUND, END_OF_BATCH):
        return None
    raise APIError(code=int(status), description=headers.get("Description"), err_code=0)


def _checked(data: bytes) -> dict[str, Any]:
    answer = cast(dict[str, Any], json.loads(data))
    error = cast(dict[str, Any] | None, answer.get("error"))
    if error is not None:
        raise APIError(code=error.get("code"), description=error.get("description"), err_code=error.get("err_code", 0))
    return answer


Then = Callable[[Msg | None], None]
"""Receives the reply, or None after the timeout. It must neither block nor raise."""

_NO_RESPONDERS: Final = "503"
_LARGEST_AT_ONCE: Final = 512 * 1024
"""Largest request that is sent without waiting. The client buffers more than four times as much before a publish
waits."""


class PendingRequests:
    """Pending requests of one client, and their replies."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._inbox = client.new_inbox()
        self._numbers = count()
        self._waiting: dict[str, tuple[Then, asyncio.TimerHandle]] = {}

    async def listen(self) -> None:
        """Subscribe to the replies; has to precede the first request."""
        await heard_at_once(self.client, f"{self._inbox}.*", self._hear)

    async def request(self, subject: str, data: bytes, headers: Mapping[str, str], limit_s: float) -> Msg:
        """Like the client's own `request`, with less latency."""
        waiting: asyncio.Future[Msg | None] = asyncio.get_running_loop().create_future()
        reply = self._expect(limit_s, partial(_resolve, waiting))
        await self.client.publish(subject, data, reply, cast(dict[str, Any], headers))
        answer = await waiting
        if answer is None:
            raise nats.errors.TimeoutError
        if is_no_responders(answer):
            raise nats.errors.NoRespondersError
        return answer

    def ask(self, subject: str, data: bytes, headers: Mapping[str, str], limit_s: float, then: Then) -> None:
        """Like `request`, but pass the reply to `then` instead of waiting; requires `is_ready`. If the client raises,
        the exception is raised here and `then` is not called."""
        reply = self._expect(limit_s, then)
        try:
            finish(self.client.publish(subject, data, reply, cast(dict[str, Any], headers)))
            if isinstance(self.client, SteadyClient):
                self.client.write_now()
        except BaseException:
            self._waiting.pop(reply)[1].cancel()
            raise

    def is_ready(self, client: Client | None, size: int) -> bool:
        """Tell whether `size` bytes can be sent without waiting, and `client` is still the client of these requests."""
        mine = self.client
        return mine is client and mine.is_connected and max(size, mine.pending_data_size) <= _LARGEST_AT_ONCE

    def _expect(self, limit_s: float, then: "Then") -> str:
        reply = f"{self._inbox}.{next(self._numbers)}"
        timer = asyncio.get_running_loop().call_later(limit_s, self._give_up, reply)
        self._waiting[reply] = then, timer
        return reply

    def _hear(self, message: Msg) -> None:
        waiting = self._waiting.pop(message.subject, None)
        if waiting is not None:
            then, timer = waiting
            timer.cancel()
            then(message)

    def _give_up(self, reply: str) -> None:
        then, _ = self._waiting.pop(reply)
        then(None)


def is_no_responders(answer: Msg) -> bool:
    """Tell whether the reply is the server's "no responders"."""
    return bool(answer.headers) and answer.headers.get("Status") == _NO_RESPONDERS


def _resolve(waiting: "asyncio.Future[Msg | None]", answer: Msg | None) -> None:
    if not waiting.done():
        waiting.set_result(answer)
