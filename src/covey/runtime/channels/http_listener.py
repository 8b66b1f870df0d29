"""The HTTP listener of a channel: people's messages as POST /CONVERSATION, authenticated by its secret.

h11 parses one small request for each connection, within limits. A body has a Content-Length; other transfer codings are
refused. Data after the first request is not parsed.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Final, NamedTuple, cast
from urllib.parse import unquote

import h11

from covey.core.channels.channel import ChannelConfig
from covey.core.channels.post import OWN, parse_conversation, parse_person
from covey.core.errors import (
    CoveyError,
    IdReused,
    Invalid,
    MessageTooLarge,
    NotFound,
    Rejected,
    RequestReplayed,
    Unavailable,
)
from covey.core.http import (
    LINGER_S,
    NO_ROOM,
    TOO_SLOW,
    HttpAddress,
    HttpLimits,
    SignatureDirection,
    SignedFields,
    check_limits,
    is_same,
    is_signed,
    json_answer,
)
from covey.core.names import parse_message_id
from covey.services.channels.channels import PersonMessage
from covey.services.space import Services

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


class UnreadableRequest(Exception):
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
        raise UnreadableRequest(HTTPStatus.BAD_REQUEST, "it is not HTTP/1.1")
    headers: dict[str, str] = {}
    for raw_name, value in head.headers:
        name = raw_name.decode("ascii")
        if name in headers:
            raise UnreadableRequest(HTTPStatus.BAD_REQUEST, f"it has the header {name} twice")
        headers[name] = value.decode("latin-1")
    if "transfer-encoding" in headers:
        raise _length_required()
    if int(headers.get("content-length", "0")) > MAX_BODY:
        raise UnreadableRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY} bytes are taken")
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


def _unreadable(error: h11.RemoteProtocolError) -> UnreadableRequest:
    if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return UnreadableRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "its head is too large")
    if error.error_status_hint == HTTPStatus.NOT_IMPLEMENTED:  # a transfer coding other than chunked
        return _length_required()
    # After the colon, h11 repeats the client's bytes.
    return UnreadableRequest(HTTPStatus.BAD_REQUEST, f"it is not valid HTTP/1.1: {str(error).partition(':')[0]}")


def _length_required() -> UnreadableRequest:
    return UnreadableRequest(HTTPStatus.LENGTH_REQUIRED, "the length is missing: send Content-Length")


ANSWER_S: Final = 10.0
"""Time limit of sending a response."""

MAX_KEY: Final = 256

STATUSES: Final[Mapping[type[CoveyError], HTTPStatus]] = {
    Invalid: HTTPStatus.BAD_REQUEST,
    IdReused: HTTPStatus.CONFLICT,
    RequestReplayed: HTTPStatus.CONFLICT,
    MessageTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Rejected: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""HTTP status of an error, by the nearest class in its MRO."""


class HttpListener:
    def __init__(
        self,
        services: Services,
        config: ChannelConfig,
        tell: Callable[[PersonMessage], None],
        limits: HttpLimits = HttpLimits(connections=64, request_s=10.0),  # noqa: B008 - immutable
    ) -> None:
        if config.secret is None:
            raise Invalid("--listen", config.name, "the channel has no secret: set one with --secret-file")
        self._services = services
        self._name = config.name
        self._secret = config.secret
        self._tell = tell
        self._limits = check_limits(limits)
        self._serving: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def listening(self, address: HttpAddress) -> AsyncGenerator[HttpAddress]:
        """Listen on an address while the block lasts; yield the address with its actual port."""
        try:
            server = await asyncio.start_server(self._serve, address.host, address.port, limit=MAX_HEAD)
        except OSError as error:
            raise Unavailable(f"{address} can't be listened on: {error.strerror}", address=str(address)) from error
        try:
            async with server:
                yield address._replace(port=server.sockets[0].getsockname()[1])
        finally:
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._serving) >= 2 * self._limits.connections:
            writer.transport.abort()
            return
        has_room = len(self._serving) < self._limits.connections
        self._serving.add(task)
        try:
            if has_room:
                await self._converse(reader, writer)
            else:
                await _turn_away(reader, writer)
        except (OSError, TimeoutError):
            pass  # the client has left
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = await self._answer(reader)
        if said is not None:
            async with asyncio.timeout(ANSWER_S):
                await _send(said, reader, writer)

    async def _answer(self, reader: asyncio.StreamReader) -> bytes | None:
        try:
            async with asyncio.timeout(self._limits.request_s):
                request = await read_request(reader)
        except TimeoutError:
            return TOO_SLOW.response()
        except UnreadableRequest as error:
            return _refusal(error.status, "unreadable", str(error))
        try:
            return None if request is None else await self._hear(request)
        except CoveyError as error:
            return json_answer(_status(error), error.envelope())

    async def _hear(self, request: Request) -> bytes:
        signed = request.headers.get("x-covey-signature", "")
        if not self._is_genuine(request, signed):
            return _refusal(HTTPStatus.UNAUTHORIZED, "identity-refused", "sign the request with the channel's secret")
        if request.method != "POST":
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "method", "send a message as POST /CONVERSATION")
        said = self._said(request)
        if not _has_bearer(request):
            # A replay of the same request is refused, with or without a key of its own.
            said = said._replace(key=said.key or signed, is_once=True)
        receipt = await self._services.channels.hear(said)
        self._tell(said)
        return json_answer(HTTPStatus.OK, {"id": receipt.message_id, "delivered": len(receipt.delivered)})

    def _is_genuine(self, request: Request, given: str) -> bool:
        headers = request.headers
        if _has_bearer(request):
            return is_same(self._secret, headers["authorization"].partition(" ")[2].strip())
        signed = SignedFields(
            SignatureDirection.SAID,
            request.method,
            request.target,
            headers.get("x-covey-timestamp", ""),
            headers.get("idempotency-key", ""),
            headers.get("content-type", ""),
            request.body,
        )
        return is_signed(self._secret, signed, given, self._services.clock.now())

    def _said(self, request: Request) -> PersonMessage:
        path = request.path.removeprefix("/")
        try:
            conversation = unquote(path, errors="strict")
            text = request.body.decode()
        except UnicodeDecodeError:
            raise Invalid("request", "…", "its path and body are UTF-8") from None
        fields = _fields(request, text)
        key = request.headers.get("idempotency-key")
        if key is not None and not 1 <= len(key) <= MAX_KEY:
            raise Invalid("Idempotency-Key", key, f"use 1 to {MAX_KEY} characters")
        person, reply_to = fields.get("person"), fields.get("reply_to")
        return PersonMessage(
            self._name,
            parse_conversation(conversation) if conversation else OWN,
            _text(fields.get("text")),
            None if person is None else parse_person(person),
            None if reply_to is None else parse_message_id(reply_to),
            key,
        )


def _has_bearer(request: Request) -> bool:
    return request.headers.get("authorization", "").partition(" ")[0].lower() == "bearer"


async def _turn_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Refuse a client because the limit of connections is reached. The request is read first, because closing a
    connection with unread data would reset it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            await reader.read(MAX_HEAD)
    writer.write(NO_ROOM.response())


async def _send(said: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a response, and drain the rest of the request: closing with unread data would cut off the response too."""
    writer.write(said)
    writer.write_eof()
    left = MAX_BODY
    while left > 0 and (more := await reader.read(left)):
        left -= len(more)


def _fields(request: Request, text: str) -> Mapping[str, object]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/plain":
        return {"text": text}
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid("body", text[:40], "use JSON with a text, or Content-Type: text/plain") from None
    if not isinstance(document, dict):
        raise Invalid("body", text[:40], "use a JSON object with a text")
    return cast(Mapping[str, object], document)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Invalid("text", value, "say something")
    return value


def _status(error: CoveyError) -> HTTPStatus:
    nearest = next((kind for kind in type(error).__mro__ if kind in STATUSES), None)
    return STATUSES[nearest] if nearest is not None else HTTPStatus.INTERNAL_SERVER_ERROR


def _refusal(status: HTTPStatus, code: str, message: str) -> bytes:
    return json_answer(status, {"error": {"code": code, "message": message}})
