"""A proxy that adds a token to each request, for programs that cannot send one."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

END_OF_HEAD = b"\r\n\r\n"


class Doorman:
    def __init__(self, token: str) -> None:
        self._header = f"Authorization: Bearer {token}".encode()
        self._server: tuple[str | None, int | None] = (None, None)

    def leads_to(self, url: str) -> None:
        """Set the server to which requests go."""
        place = urlsplit(url)
        self._server = (place.hostname, place.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection, in both directions."""
        inside, onward = await asyncio.open_connection(*self._server)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await asyncio.gather(self._requests(reader, onward), _copy(inside, writer))

    async def _requests(self, reader: asyncio.StreamReader, onward: asyncio.StreamWriter) -> None:
        try:
            while True:
                first, *lines = (await reader.readuntil(END_OF_HEAD)).split(b"\r\n")
                onward.write(b"\r\n".join([first, self._header, *lines]))
                onward.write(await reader.readexactly(_length(lines)))
                await onward.drain()
        finally:
            onward.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
    finally:
        writer.close()


def _length(lines: list[bytes]) -> int:
    """Return the length of the body that follows a head."""
    for line in lines:
        name, _, value = line.partition(b":")
        assert name.lower() != b"transfer-encoding", "the suite sends whole bodies"
        if name.lower() == b"content-length":
            return int(value)
    return 0


@asynccontextmanager
async def doorman(token: str) -> AsyncGenerator[tuple[Doorman, str]]:
    """Start the proxy; yield it with its host and port."""
    someone = Doorman(token)
    server = await asyncio.start_server(someone.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield someone, f"127.0.0.1:{port}"
