"""The scripted provider without its HTTP server: it logs requests, and refuses them or answers from the script."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from secrets import token_hex
from threading import Lock
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.dialect import AnthropicMessages
from covey.testing.models.dialect import Dialect, ModelAnswer, StreamEvent
from covey.testing.models.openai_chat import OpenAIChat
from covey.testing.models.openai_responses.dialect import OpenAIResponses
from covey.testing.models.request import Api, ModelRequest, ProviderRefusal, obj, objects, string
from covey.testing.models.script import Cut, Ending, Fail, Gate, Hang, Line, ModelTurn, Script, as_turn


class Reply(NamedTuple):
    """One answer on the wire: a body, or the events of a stream."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: JsonObject | None = None
    events: tuple[StreamEvent, ...] = ()
    gate: Gate | None = None
    ends: Cut | Hang | None = None
    """The way in which the reply breaks off, or None for a normal end."""


class ScriptPlayer:
    """A player of one script for all connections, one request at a time."""

    def __init__(self, script: Script) -> None:
        self._ask: Callable[[ModelRequest], Line] | None = script if callable(script) else None
        self._lines: Iterator[Line] = iter(()) if callable(script) else iter(script)
        self._played = 0
        self._lock = Lock()
        self.error: Exception | None = None
        """The first exception of the script's own code."""

    def line(self, request: ModelRequest) -> ModelTurn | Ending:
        """Return the script's answer to a request. Refuse the request if the script is over or has failed."""
        with self._lock:
            try:
                line = self._ask(request) if self._ask else next(self._lines)
            except StopIteration:
                told = f"the script is over: request {request.number} came, and it had {self._played} turns"
                raise ProviderRefusal(told, code="script_over") from None
            except Exception as error:  # Code of the test may raise anything; the model raises it again when it closes.
                raise self.failed(error) from error
            self._played += 1
            return as_turn(line)

    def failed(self, error: Exception) -> ProviderRefusal:
        """Keep the first error of the script, and return a refusal for the client."""
        self.error = self.error or error
        return ProviderRefusal(f"the script failed: {error!r}", code="script_failed")


class RequestLog:
    """A log of requests, written by the server's threads and read by a test in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: list[ModelRequest] = []
        self._awaited: list[tuple[int, Future[ModelRequest]]] = []

    def enter(self, numbered: Callable[[int], ModelRequest]) -> ModelRequest:
        """Log a request under the next number."""
        with self._lock:
            request = numbered(len(self._requests) + 1)
            self._requests.append(request)
            due = [future for number, future in self._awaited if number == request.number]
        for future in due:
            # A waiter may have given up in the meantime.
            if future.set_running_or_notify_cancel():
                future.set_result(request)
        return request

    def all(self) -> tuple[ModelRequest, ...]:
        """Return all requests so far."""
        with self._lock:
            return tuple(self._requests)

    def nth(self, number: int) -> Future[ModelRequest]:
        """Return a future of the request with that number."""
        future: Future[ModelRequest] = Future()
        with self._lock:
            if number > len(self._requests):
                self._awaited.append((number, future))
                return future
            future.set_result(self._requests[number - 1])
        return future


_LARGEST: Final = 32 * 1024 * 1024


def dialects() -> tuple[Dialect, ...]:
    """Return a dialect for every supported API, each with an empty memory."""
    return AnthropicMessages(), OpenAIChat(), OpenAIResponses()


class ModelService:
    """One provider of all three APIs, with answers from one script."""

    def __init__(self, script: Script, key: str | None, *, refuses_invalid: bool) -> None:
        self.log = RequestLog()
        self.player = ScriptPlayer(script)
        self.elsewhere: list[str] = []
        self._dialects = {dialect.path: dialect for dialect in dialects()}
        self._key = key
        self._refuses_invalid = refuses_invalid

    def receive(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Reply:
        """Answer one request."""
        path = urlsplit(target).path
        dialect = self._dialects.get(path)
        if dialect is None or method != "POST":
            self.elsewhere.append(f"{method} {target}")
            return self._lost(method, path, headers)
        body, refusal = self._take(dialect, headers, raw)
        request = self.log.enter(
            lambda number: ModelRequest(
                number, dialect.api, target, headers, body, dialect.read(body), _tools(body), refusal
            )
        )
        try:
            if refusal and (self._refuses_invalid or refusal.status != 400):
                raise refusal
            return self._play(dialect, request)
        except ProviderRefusal as told:
            return _refused(dialect, told)

    def _take(
        self, dialect: Dialect, headers: Mapping[str, str], raw: bytes
    ) -> tuple[JsonObject, ProviderRefusal | None]:
        body: JsonObject = {}
        try:
            dialect.authenticate(headers, self._key)
            if len(raw) > _LARGEST:
                raise ProviderRefusal("Request exceeds the maximum size", status=413, kind="request_too_large")
            body = _parsed(raw)
            dialect.check(body, headers)
        except ProviderRefusal as refusal:
            return body, refusal
        return body, None

    def _play(self, dialect: Dialect, request: ModelRequest) -> Reply:
        match self.player.line(request):
            case Fail() as fail:
                raise _failed(dialect, fail)
            case Cut() | Hang() as ending:
                return Reply(ends=ending)
            case ModelTurn() as turn:
                try:
                    answer = dialect.answer(turn, request)
                except (TypeError, ValueError) as error:
                    raise self.player.failed(error) from error
                return _streamed(dialect, turn, answer) if request.is_streaming else _plain(dialect, turn, answer)

    def _lost(self, method: str, path: str, headers: Mapping[str, str]) -> Reply:
        is_anthropic = "anthropic-version" in headers or path == AnthropicMessages.path
        speaker = AnthropicMessages() if is_anthropic else OpenAIChat()
        status = 405 if path in self._dialects else 404
        kind = "not_found_error" if is_anthropic and status == 404 else "invalid_request_error"
        return _refused(speaker, ProviderRefusal(f"Invalid URL ({method} {path})", status=status, kind=kind))


def _parsed(raw: bytes) -> JsonObject:
    try:
        body: Json = json.loads(raw)
    except ValueError as error:
        raise ProviderRefusal(f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, Mapping):
        raise ProviderRefusal("The request body must be a JSON object.")
    return body


def _tools(body: JsonObject) -> tuple[str, ...]:
    """Return the names of the declared tools, in the format of any of the APIs."""
    tools = objects(body.get("tools"))
    names = (string(tool.get("name")) or string(obj(tool.get("function")).get("name")) for tool in tools)
    return tuple(name for name in names if name)


def _failed(dialect: Dialect, fail: Fail) -> ProviderRefusal:
    refusal = dialect.trouble(fail.trouble)
    refusal.retry_after = fail.retry_after
    return refusal


def _refused(dialect: Dialect, refusal: ProviderRefusal) -> Reply:
    request_id = f"req_{token_hex(12)}"
    headers = {dialect.request_id_header: request_id}
    if refusal.retry_after is not None:
        # The standard header has whole seconds; clients of both providers also know the one with milliseconds.
        headers["retry-after"] = str(round(refusal.retry_after))
        headers["retry-after-ms"] = str(round(refusal.retry_after * 1000))
    return Reply(refusal.status, headers, dialect.failure(refusal, request_id))


def _head(dialect: Dialect) -> Mapping[str, str]:
    return {dialect.request_id_header: f"req_{token_hex(12)}"}


def _plain(dialect: Dialect, turn: ModelTurn, answer: ModelAnswer) -> Reply:
    if isinstance(turn.ends, Fail):
        raise _failed(dialect, turn.ends)
    return Reply(200, _head(dialect), answer.body, gate=turn.gate, ends=turn.ends)


def _streamed(dialect: Dialect, turn: ModelTurn, answer: ModelAnswer) -> Reply:
    events, ends = answer.events, turn.ends
    if ends is not None:
        events = events[: ends.after]
    if isinstance(ends, Fail):
        if not events:
            raise _failed(dialect, ends)
        events, ends = (*events, dialect.broken(ends.trouble, answer, len(events))), None
    return Reply(200, _head(dialect), None, events, turn.gate, ends)


def refusal_of(api: Api, body: JsonObject, betas: Sequence[str] = ()) -> ProviderRefusal | None:
    """Return the provider's refusal of a request, or None if the request is valid. There are no earlier requests."""
    (dialect,) = (dialect for dialect in dialects() if dialect.api is api)
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": ",".join(betas)}
    try:
        dialect.check(body, headers)
    except ProviderRefusal as refusal:
        return refusal
    return None
