"""HTTP requests of people, parsed by h11: one small request for each connection, within limits.

A body has a Content-Length; other transfer codings are refused. Data after the first request is not parsed.
"""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

import h11

MAX_HEAD: Final = 16 * 1024
MAX_BODY: Final = 256 * 1024


class Request(NamedTuple):
    method: str
    target: str
    """The path as it was sent, with the query string."""
    headers: Mapping[str, str]
    """Header values, by lower-case names."""
    body: bytes

    @property
    def path(self) -> str:
        """The path as it was sent, without the query string."""
        return self.target.partition("?")[0]


class Unreadable(Exception):
    """The client did not send a request that can be read here."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request; None if the connection ends before one begins."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
    head = await _next_event(connection, reader)
    if not isinstance(head, h11.Request):
        return None
    if not head.http_version.startswith(b"1.") or not head.target.startswith(b"/"):
        raise Unreadable(HTTPStatus.BAD_REQUEST, "it is not HTTP/1.1")
    headers: dict[str, str] = {}
    for raw_name, value in head.headers:
        name = raw_name.decode("ascii")
        if name in headers:
            raise Unreadable(HTTPStatus.BAD_REQUEST, f"it has the header {name} twice")
        headers[name] = value.decode("latin-1")
    if "transfer-encoding" in headers:
        raise _length_required()
    if int(headers.get("content-length", "0")) > MAX_BODY:
        raise Unreadable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY} bytes are taken")
    body = bytearray()
    while isinstance(part := await _next_event(connection, reader), h11.Data):
        body += part.data
    return Request(head.method.decode("ascii"), head.target.decode("ascii"), headers, bytes(body))


async def _next_event(connection: h11.Connection, reader: asyncio.StreamReader) -> object:
    """Return the next event of the connection, and read no more than MAX_HEAD + 1 bytes for it: h11 checks the size of
    a head only while the head is incomplete."""
    received = 0
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            data = await reader.read(MAX_HEAD + 1 - received)
            received += len(data)
            connection.receive_data(data)
    except h11.RemoteProtocolError as error:
        raise _unreadable(error) from None
    return event


def _unreadable(error: h11.RemoteProtocolError) -> Unreadable:
    if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return Unreadable(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "its head is too large")
    if error.error_status_hint == HTTPStatus.NOT_IMPLEMENTED:  # a transfer coding other than chunked
        return _length_required()
    # After the colon, h11 repeats the client's bytes.
    return Unreadable(HTTPStatus.BAD_REQUEST, f"it is not valid HTTP/1.1: {str(error).partition(':')[0]}")


def _length_required() -> Unreadable:
    return Unreadable(HTTPStatus.LENGTH_REQUIRED, "say its length: Content-Length")
