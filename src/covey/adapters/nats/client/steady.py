"""The NATS client with a reconnect that never gives up. All patches of nats-py are in this module.

nats-py has no public way to do the following, so `SteadyClient` relies on private names of its version 2.16
(`tests/nats/test_nats_py.py` has each of them, and fails if nats-py changes one):

- `_attempt_reconnect`: an error that nats-py does not expect would end its reconnecting for good, and a silent server
  would block it, because nats-py waits until the old socket has sent all data.
- `_connect_to_server`: if a new connection fails right after its greeting, nats-py leaves its tasks and its socket
  behind, which read alongside those of the next connection.
- `_process_err`: nats-py closes for good on most errors that a server reports.
- `_read_loop`: after an unexpected error, nats-py stays connected but stops reading.
- `_parse_header_lines`: ours takes a quarter of the time.
- `_transport`, `_io_writer`: the public close is graceful, and waits for a silent server.
- `_pending`, `_pending_data_size`: published data is sent in the next turn of the loop, and a `flush` overtakes it.
- `_server_info`: TLS support of the server has to be known before a secret is sent.
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
"""Server errors that nats-py handles itself."""


class SteadyClient(Client):
    _reading_task: "asyncio.Task[None] | None"
    _ping_interval_task: "asyncio.Task[None] | None"
    _flusher_task: "asyncio.Task[None] | None"

    def cut(self) -> None:
        """Abort the socket without a flush."""
        transport = self._transport
        if isinstance(transport, TcpTransport) and transport._io_writer is not None:  # pyright: ignore[reportPrivateUsage] # it can only be closed in order
            transport._io_writer.transport.abort()  # pyright: ignore[reportPrivateUsage] # see above

    def write_now(self) -> None:
        """Write published data to the socket now, instead of in the next turn of the loop."""
        if self._pending_data_size > 0 and self.is_connected and self._transport is not None:
            pending, self._pending, self._pending_data_size = self._pending, [], 0
            self._transport.writelines(pending)

    async def flush(self, timeout: int = 10) -> None:
        """Wait until the server has processed everything that was sent before.

        nats-py sends its ping ahead of the data that it still buffers, so its reply would not cover that data: a new
        subscription might not be active yet. So the buffer is written first.
        """
        self.write_now()
        await super().flush(timeout)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        """Like nats-py's parser, in a quarter of the time: that one looks at every character."""
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
            except Exception as error:  # noqa: BLE001 - any error would end the reconnecting for good
                with suppress(Exception):
                    await self._error_cb(error)
            # If cancelled, nats-py returns without an exception: another task reconnects then.
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
            # Such as a refused login: that may be temporary, or true of this server only.
            await self._process_op_err(nats.errors.Error(f"nats: {err_msg}"))

    async def _read_loop(self) -> None:
        await super()._read_loop()
        if self.is_connected and self._reading_task is asyncio.current_task():
            # nats-py ended its loop on an unexpected error, and no task reads the socket any more.
            await self._process_op_err(nats.errors.StaleConnectionError())


async def heard_at_once(client: Client, subject: str, hear: Hear) -> Subscription:
    """Subscribe to a subject: `hear` is called when a message is read. It must neither block nor raise.

    nats-py passes each message through a queue and a task, which costs more turns of the loop. It gives a message to a
    future at once, and does not check the future's type.
    """
    listen = cast(Callable[..., Awaitable[Subscription]], client.subscribe)  # pyright: ignore[reportUnknownMemberType] # a parameter has no type
    return await listen(subject, future=_MessageFuture(hear))


def server_info(client: Client) -> Mapping[str, Any]:
    """Return the server's INFO message, with its TLS requirement and the addresses of its cluster."""
    return client._server_info  # pyright: ignore[reportPrivateUsage] # nothing else tells it before a secret is sent


class _MessageFuture:
    """A stand-in for the future that nats-py resolves with one message; this one gets every message of a
    subscription."""

    def __init__(self, hear: Hear) -> None:
        self.set_result = hear

    def cancelled(self) -> bool:
        return False
