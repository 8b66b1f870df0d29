"""The client of NATS, steady: it reconnects until it is connected again. All patches of nats-py are in this module.

nats-py has no public way to do the following, so `SteadyClient` relies on private names of its version 2.16
(`tests/nats/test_nats_py.py` has each of them, and fails if nats-py changes one):

- `_attempt_reconnect`: an error that nats-py does not expect would end its reconnecting for good, and a silent server
  would block it, because it waits until the old socket has sent all.
- `_connect_to_server`: if a new connection fails right after its greeting, nats-py leaves its tasks and its socket
  behind, which read beside those of the next one.
- `_process_err`: nats-py closes for good on most errors that a server tells.
- `_read_loop`: after an error that it does not expect, nats-py stays connected and reads no more.
- `_parse_header_lines`: ours takes a quarter of the time.
- `_transport`, `_io_writer`: a socket can only be closed in order, which waits for a silent server.
- `_pending`, `_pending_data_size`: what was published is sent in the next turn of the loop, and a `flush` overtakes it.
- `_server_info`: whether the server has TLS has to be known before a secret is sent.
- `subscribe(future=…)` and `_process_msg`: see `heard_at_once`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.aio.transport import TcpTransport

Hear = Callable[[Msg], None]

_PAUSE_S: Final = 0.25
_GO_ON: Final = ("permissions violation", "stale connection")
"""Errors of a server that the client can deal with."""


class SteadyClient(Client):
    _reading_task: "asyncio.Task[None] | None"
    _ping_interval_task: "asyncio.Task[None] | None"
    _flusher_task: "asyncio.Task[None] | None"

    def cut(self) -> None:
        """Let go of the socket at once."""
        transport = self._transport
        if isinstance(transport, TcpTransport) and transport._io_writer is not None:  # pyright: ignore[reportPrivateUsage] # it can only be closed in order
            transport._io_writer.transport.abort()  # pyright: ignore[reportPrivateUsage] # see above

    def write_now(self) -> None:
        """Hand over to the socket what was published, and not in the next turn of the loop."""
        if self._pending_data_size > 0 and self.is_connected and self._transport is not None:
            pending, self._pending, self._pending_data_size = self._pending, [], 0
            self._transport.writelines(pending)

    async def flush(self, timeout: int = 10) -> None:
        """Return when the server has taken what was sent before. As it comes, the client sends its question ahead of
        what it still holds back, and so learns nothing of that: who listens would not yet be heard of."""
        self.write_now()
        await super().flush(timeout)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        """Do what the client does, in a quarter of the time: it looks at every letter."""
        headers: dict[str, str] = {}
        for line in raw.decode("utf-8", "replace").split("\r\n"):
            name, colon, value = line.partition(":")
            words = name.split()
            if colon and len(words) == 1 and name.isascii():
                headers[words[0]] = value.strip()
        return headers

    async def _attempt_reconnect(self) -> None:
        self.cut()
        task = asyncio.current_task()
        while True:
            try:
                await super()._attempt_reconnect()
            except Exception as error:  # noqa: BLE001 - whatever it is, without this nobody would connect again
                with suppress(Exception):
                    await self._error_cb(error)
            # When it is cancelled, it returns as if nothing were: another task is at it then.
            is_over = task is None or task.cancelling() > 0 or self._reconnection_task is not task
            if self.is_connected or self.is_closed or is_over:
                return
            await asyncio.sleep(_PAUSE_S)

    async def _connect_to_server(self, s: Any) -> None:
        for task in (self._reading_task, self._ping_interval_task, self._flusher_task):
            if task is not None:
                task.cancel()
        self.cut()
        await super()._connect_to_server(s)

    async def _process_err(self, err_msg: str) -> None:
        if any(words in err_msg.lower() for words in _GO_ON):
            await super()._process_err(err_msg)
        else:
            # Such as that nobody is let in for now: it may be otherwise later, or on another server.
            await self._process_op_err(nats.errors.Error(f"nats: {err_msg}"))

    async def _read_loop(self) -> None:
        await super()._read_loop()
        if self.is_connected and self._reading_task is asyncio.current_task():
            # It gave up for a reason that it did not expect, and nobody reads any more.
            await self._process_op_err(nats.errors.StaleConnectionError())


async def heard_at_once(client: Client, subject: str, hear: Hear) -> Subscription:
    """Listen to a subject: `hear` is called when a message is read. It must not block, nor raise.

    nats-py hands each message to a queue and a task, which cost more turns of the loop. It gives a message to a future
    at once, and does not look at the type of that.
    """
    listen = cast(Callable[..., Awaitable[Subscription]], client.subscribe)  # pyright: ignore[reportUnknownMemberType] # a parameter has no type
    return await listen(subject, future=_Ear(hear))


def server_info(client: Client) -> Mapping[str, Any]:
    """Return the greeting of the server: whether it has TLS, and the addresses of its cluster."""
    return client._server_info  # pyright: ignore[reportPrivateUsage] # nothing else tells it before a secret is sent


class _Ear:
    """A future to nats-py, which gives it one message; this one is given all of a subscription."""

    def __init__(self, hear: Hear) -> None:
        self.set_result = hear

    def cancelled(self) -> bool:
        return False
