"""Low-latency requests on the link's loop, without a queue or a task between the socket and the caller.

nats-py hands each message to a task of its own. That would add turns of the loop to every wait for a commit.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, Final, cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from covey.adapters.nats.client.steady import SteadyClient, heard_at_once
from covey.core.drive import finish

Then = Callable[[Msg | None], None]
"""Receives the reply, or None after the timeout. It must neither block nor raise."""

_NOBODY: Final = "503"
_AT_ONCE: Final = 512 * 1024
"""Largest request that is sent without waiting. The client buffers more than four times as much before a publish
waits."""


class Answers:
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
        if is_nobody(answer):
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
        return mine is client and mine.is_connected and max(size, mine.pending_data_size) <= _AT_ONCE

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


def is_nobody(answer: Msg) -> bool:
    """Tell whether the reply is the server's "no responders"."""
    return bool(answer.headers) and answer.headers.get("Status") == _NOBODY


def _resolve(waiting: "asyncio.Future[Msg | None]", answer: Msg | None) -> None:
    if not waiting.done():
        waiting.set_result(answer)
