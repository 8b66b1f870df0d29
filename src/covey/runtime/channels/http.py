"""HTTP as far as hearing people needs it: one small request a connection, read within limits."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

MAX_HEAD: Final = 16 * 1024
MAX_BODY: Final = 256 * 1024


class Request(NamedTuple):
    method: str
    target: str
    """The path as it was sent, with what comes after a question mark."""
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes

    @property
    def path(self) -> str:
        """The path as it was sent, without what comes after a question mark."""
        return self.target.partition("?")[0]


class Unreadable(Exception):
    """What came is no request that can be read here."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the request that comes in; None where none does. The reader's limit must be MAX_HEAD."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Unreadable(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "its head is too large") from None
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise Unreadable(HTTPStatus.BAD_REQUEST, "it ends in its head") from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[1].startswith("/"):
        raise Unreadable(HTTPStatus.BAD_REQUEST, "it is not HTTP/1.1")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or name.lower() in headers:
            raise Unreadable(HTTPStatus.BAD_REQUEST, "a header is malformed, or there twice")
        headers[name.lower()] = value.strip()
    return Request(words[0], words[1], headers, await _read_body(reader, headers))


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers:
        raise Unreadable(HTTPStatus.LENGTH_REQUIRED, "say its length: Content-Length")
    if not (length.isascii() and length.isdigit()):
        raise Unreadable(HTTPStatus.BAD_REQUEST, "its Content-Length is no number")
    if len(length) > 9 or int(length) > MAX_BODY:
        raise Unreadable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY} bytes are taken")
    try:
        return await reader.readexactly(int(length))
    except asyncio.IncompleteReadError:
        raise Unreadable(HTTPStatus.BAD_REQUEST, "it is shorter than it says") from None
