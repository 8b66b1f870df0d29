"""The client of NATS, steady: whatever happens while it reconnects, it goes on until it is connected again.

As it comes, it waits until a server has taken what was still to be sent, which a silent one never does; where a new
connection fails right after its greeting, the tasks and the socket of that one are left behind, to read beside those of
the next; and what it does not expect ends its reconnecting for good, as do most errors that a server tells.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import nats.errors
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

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
