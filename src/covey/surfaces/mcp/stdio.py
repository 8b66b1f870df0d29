"""Standard input and output as the transport of one client: one message a line, read and written without threads.

The SDK has such a transport too. That one reads in a thread that can't be interrupted, so a signal does not end the
program, and every line is handed from one thread to another.
"""

import asyncio
import logging
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

LONGEST_LINE: Final = 16 * 1024 * 1024
"""The largest line in bytes. An envelope has at most 1 MiB; a line with an envelope escaped in JSON is longer."""

GRACE_S: Final = 1.0
"""The seconds that open calls may go on after the end of the input, so that calls piped in at once are answered."""

Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def stdio_wire(ending: asyncio.Event) -> AsyncGenerator[tuple[Inbound, Outbound]]:
    """Take over both descriptors while the block runs. Other output of the process goes to stderr, and other readers of
    stdin find it empty. When `ending` is set, reading stops, as if the client had closed its end."""
    stdin, stdout = _taken(0, os.open(os.devnull, os.O_RDONLY)), _taken(1, os.dup(2))
    was_blocking = [(descriptor, os.get_blocking(descriptor)) for descriptor in (stdin, stdout)]
    heard, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, said = anyio.create_memory_object_stream[SessionMessage](0)
    under_way = _UnderWay()
    reading = anyio.CancelScope()

    async def read() -> None:
        async with heard:
            with reading:
                await _read(stdin, heard, under_way)

    async def end() -> None:
        await ending.wait()
        reading.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(end)
        group.start_soon(_write, stdout, said, under_way)
        try:
            yield inbound, outbound
        finally:
            group.cancel_scope.cancel()
    for descriptor, blocked in was_blocking:
        os.set_blocking(descriptor, blocked)  # a terminal is shared with its shell


class _UnderWay:
    """The calls that were read and not answered yet."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._none = anyio.Event()

    def read(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)

    def written(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._ids.discard(message.id)
            self._none.set()

    async def end(self) -> None:
        while self._ids:
            self._none = anyio.Event()
            await self._none.wait()


async def _read(descriptor: int, heard: MemoryObjectSendStream[SessionMessage | Exception], calls: _UnderWay) -> None:
    async for line in _lines(descriptor):
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            _log.warning("a line that is no message was left out: %.200s", line.decode(errors="replace").strip())
            continue
        calls.read(message)
        try:
            await heard.send(SessionMessage(message))
        except anyio.BrokenResourceError:
            return  # the server ended before its client
    with anyio.move_on_after(GRACE_S):
        await calls.end()


async def _write(descriptor: int, said: MemoryObjectReceiveStream[SessionMessage], calls: _UnderWay) -> None:
    async with said, _sender(descriptor) as send:
        async for item in said:
            try:
                await send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            except ConnectionError:
                return  # the client no longer reads: later answers find the stream closed, and the input ends too
            calls.written(item.message)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines of a pipe, a socket or a terminal as they come. A file is read as a whole first."""
    if not _can_wait(descriptor):
        for line in (await asyncio.to_thread(_content, descriptor)).splitlines():
            yield line
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LONGEST_LINE, loop)
    pipe = os.fdopen(descriptor, "rb", 0, closefd=False)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), pipe)
    try:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                _log.warning("a line of more than %d bytes was left out", LONGEST_LINE)
                continue
            if not line:
                return
            yield line
    finally:
        transport.close()


@asynccontextmanager
async def _sender(descriptor: int) -> AsyncGenerator[Callable[[bytes], Awaitable[None]]]:
    """Yield a function that writes to a descriptor, and waits if the reader is slow. At the end, flush for at most
    `GRACE_S`."""
    if not _can_wait(descriptor):
        file = os.fdopen(descriptor, "wb", 0, closefd=False)

        async def send(content: bytes) -> None:
            file.write(content)

        yield send
        return
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", 0, closefd=False)
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop)
    transport, _ = await loop.connect_write_pipe(lambda: protocol, pipe)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def send_on(content: bytes) -> None:
        writer.write(content)
        await writer.drain()

    try:
        yield send_on
    finally:
        with anyio.move_on_after(GRACE_S, shield=True), suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()


def _can_wait(descriptor: int) -> bool:
    """Tell whether an event loop can wait for a descriptor. Files and devices such as /dev/null are always ready."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _content(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read()


def _taken(descriptor: int, instead: int) -> int:
    """Return a copy of a descriptor, and put `instead` in its place."""
    copy = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return copy
