"""`covey mcp --http` with clients that send too little, too slowly or too much, over real sockets."""

import asyncio
import http.client
import json
import socket
from collections.abc import Generator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

import covey
from covey import Card
from covey.core.names import AgentName
from covey.ports.work import RunFilter
from covey.surfaces.cli.exits import DONE, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.desk import text_of
from tests.surfaces.mcp.serving import LIMIT_S, HttpServer, bearer, http_server
from tests.surfaces.mcp.speaking import HELLO

SLOW = Card(command=("sh", "-c", "exec sleep 60"))
HALF_HEAD = b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Half: "


@contextmanager
def server_in(folder: Folder, *words: str) -> Generator[HttpServer]:
    assert folder.covey("init").code == DONE
    with http_server(folder, *words) as server:
        yield server


@contextmanager
def connected(server: HttpServer) -> Generator[socket.socket]:
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port or 0), timeout=LIMIT_S) as one:
        yield one


def head(server: HttpServer, token: str | None, length: int) -> bytes:
    """Return the head of a request with the length of its body."""
    lines = ["POST /mcp HTTP/1.1", f"Host: {urlsplit(server.url).netloc}", "Content-Type: application/json"]
    lines += ["Accept: application/json, text/event-stream", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in bearer(token).items()] if token else []
    return "\r\n".join([*lines, "", ""]).encode()


def rest(one: socket.socket) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    said = b""
    with suppress(ConnectionResetError):
        while more := one.recv(65_536):
            said += more
    return said


def error_of(said: bytes) -> tuple[int, str]:
    """Return the status and the error code of the last response on a connection."""
    answer = said[said.rindex(b"HTTP/1.1 ") :]
    first, _, body = answer.partition(b"\r\n\r\n")
    return int(first.split(b" ")[1]), json.loads(body)["error"]["code"]


def test_an_incomplete_request_times_out_at_any_point_and_pace(folder: Folder) -> None:
    with server_in(folder, "--request-timeout", "0.5") as server:
        token = server.token("coder", "--register")
        ended = (408, "request-timeout")
        for begun in (b"", b"PO", HALF_HEAD, head(server, token, 10) + b"{"):
            with connected(server) as one:
                one.sendall(begun)
                assert error_of(rest(one)) == ended, begun
        with connected(server) as one:  # Without a token the request is refused at once, and the connection is closed.
            one.sendall(head(server, None, 10) + b"{")
            assert rest(one).startswith(b"HTTP/1.1 401 ")
        with connected(server) as one:  # a second request on a connection
            one.sendall(head(server, None, 0) + HALF_HEAD)
            assert error_of(rest(one)) == ended
        with connected(server) as one:  # a byte at a time
            one.settimeout(0.02)
            said = b""
            while b"request-timeout" not in said:
                with suppress(TimeoutError):
                    one.sendall(b"x")
                    said += one.recv(65_536)
            assert error_of(said) == ended


def test_connections_are_bounded_and_a_closed_one_makes_room(folder: Folder) -> None:
    with server_in(folder, "--connections", "3", "--request-timeout", "600") as server, ExitStack() as stack:
        token = server.token("coder", "--register")
        held = [stack.enter_context(connected(server)) for _ in range(3)]
        for one in held:
            one.sendall(HALF_HEAD)
        with connected(server) as one:
            one.sendall(head(server, token, 2) + b"{}")
            assert error_of(rest(one)) == (503, "too-many-connections")
        held[0].close()
        assert until_served(server, token)


def until_served(server: HttpServer, token: str) -> bool:
    """Send requests until one is not refused with 503. The time limit of the test bounds the loop."""
    while server.post(bearer(token))[0] == 503:
        pass
    return True


@pytest.mark.requirement("trust.limits")
def test_the_limits_of_one_token_do_not_affect_other_tokens(folder: Folder) -> None:
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    with (
        server_in(folder, "--per-token", "2", "--sessions", "2", "--request-timeout", "600") as server,
        ExitStack() as stack,
    ):
        greedy, other = server.token("greedy", "--register"), server.token("other", "--register")
        begun = [begin(server, greedy, hello) for _ in range(2)]
        status, said = server.post(bearer(greedy), hello)
        assert (status, json.loads(said)["error"]["code"]) == (429, "too-many-sessions")
        assert server.post(bearer(other), hello)[0] == 200
        assert request(server, "DELETE", {**bearer(greedy), "Mcp-Session-Id": begun[0]})[0] == 200
        assert server.post(bearer(greedy), hello)[0] == 200
        busy = server.token("busy", "--register")
        for _ in range(2):
            stack.enter_context(connected(server)).sendall(head(server, busy, 10) + b"{")
        assert until_refused(server, busy, "too-many-requests") == 429
        assert server.post(bearer(other))[0] == 400  # The request was read: it lacks a method.


def until_refused(server: HttpServer, token: str, code: str) -> int:
    """Send requests until one is refused with this error code; return its status.

    The time limit of the test bounds the loop.
    """
    while code not in (answer := server.post(bearer(token)))[1]:
        pass
    return answer[0]


def begin(server: HttpServer, token: str, hello: str) -> str:
    """Start a session, and return its id."""
    return request(server, "POST", bearer(token), hello)[1]


def request(server: HttpServer, method: str, headers: dict[str, str], body: str = "") -> tuple[int, str]:
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=LIMIT_S)
    try:
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request(method, place.path, body, usual | headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers.get("mcp-session-id", "")
    finally:
        connection.close()


@pytest.mark.requirement("trust.limits")
async def test_ten_connections_of_a_token_can_start_only_five_children(folder: Folder) -> None:
    with server_in(folder, "--toolkit", "sessions") as server:
        token = server.token("lead", "--register")
        async with covey.open(f"sqlite:{folder.path}/.covey/covey.db") as space, AsyncExitStack() as stack:
            owner = space.services.identities.claim(AgentName("owner"))
            await space.services.directory.register(AgentName("lead"), SLOW, owner)
            clients = [await stack.enter_async_context(server.client(token, "legacy")) for _ in range(10)]

            async def spawn(client: Any) -> list[str]:
                return [text_of(await client.call_tool("sessions_spawn", {"task": "Wait"})) for _ in range(5)]

            said = [answer for answers in await asyncio.gather(*map(spawn, clients)) for answer in answers]
            assert sum('"status":"accepted"' in answer for answer in said) == 5
            assert sum("the limit is 5 (max_children" in answer for answer in said) == 45
            assert len(await space.services.runs.find(RunFilter(has_ended=False))) == 5


def test_a_limit_of_zero_is_refused(folder: Folder) -> None:
    folder.covey("init")
    assert folder.covey("mcp", "--http", "127.0.0.1:0", "--connections", "0").code == USAGE
