"""`covey mcp --http` as a real process: tokens, host names, sessions, and an orderly end."""

import asyncio
import json
import signal
from collections.abc import Generator
from urllib.parse import urlsplit

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED, UNAVAILABLE
from tests.scenarios.world import soon
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.desk import ERAS, Era, text_of
from tests.surfaces.mcp.serving import HttpServer, bearer, http_server
from tests.surfaces.mcp.speaking import HELLO


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    """One server for all tests of this module. Each test has its own agents."""
    folder = Folder(tmp_path_factory.mktemp("http"))
    assert folder.covey("init").code == DONE
    with http_server(folder) as started:
        yield started


HELLO_2025 = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_with_a_token_takes_part_as_its_agent(server: HttpServer, era: Era) -> None:
    name = f"coder-{era}"
    token = server.token(name, "--register")
    async with server.client(token, era) as coder:
        assert text_of(await coder.call_tool("list_agents", {})).startswith(f"You are {name}.")
        assert len(server.sessions(name)) == 1
        server.folder.covey("send", "--from", "lead", "--to", name, "hello")
        assert "  hello" in text_of(await coder.call_tool("list_agents", {}))
        assert "  hello" not in text_of(await coder.call_tool("list_agents", {}))
        await coder.call_tool("send_message", {"to": "lead", "message": f"from {era}"})
    (*_, item) = server.folder.covey("inbox", "lead", "--json").json
    assert (item["from"], item["grade"], item["text"]) == (name, "token", f"from {era}")


async def test_each_connection_of_2025_has_a_session_that_ends_with_it(server: HttpServer) -> None:
    token = server.token("twice", "--register")
    async with server.client(token, "legacy") as one:
        async with server.client(token, "legacy") as two:
            for client in (one, two):
                await client.call_tool("list_agents", {})
            assert len(server.sessions("twice")) == 2
        await server.until_live("twice", 1)
    await server.until_live("twice", 0)


async def test_since_2026_a_token_has_one_session(server: HttpServer) -> None:
    token = server.token("once", "--register")
    for _ in range(2):
        async with server.client(token, "2026-07-28") as client:
            await client.call_tool("list_agents", {})
    assert len(server.sessions("once")) == 1
    async with server.client(server.token("once"), "2026-07-28") as client:
        await client.call_tool("list_agents", {})
    assert len(server.sessions("once")) == 2


async def test_an_agent_is_notified_only_of_its_own_inbox(server: HttpServer) -> None:
    wanted = ["covey://inbox"]
    async with (
        server.client(server.token("ears", "--register"), "2026-07-28") as ears,
        server.client(server.token("eyes", "--register"), "2026-07-28") as eyes,
        ears.listen(resource_subscriptions=wanted) as heard,
        eyes.listen(resource_subscriptions=wanted) as seen,
    ):
        server.folder.covey("send", "--from", "lead", "--to", "ears", "hello")
        await soon(anext(heard))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(seen)


async def test_an_agents_token_reads_no_other_agents_mail(server: HttpServer) -> None:
    server.token("spy", "--register")
    server.folder.covey("send", "--from", "lead", "--to", "spy", "--register", "hello")
    secret = server.folder.covey("send", "--from", "ann", "--to", "bea", "--register", "--json", "a secret").json["id"]
    async with server.client(server.token("spy"), "2026-07-28") as spy:
        assert "a secret" not in text_of(await spy.call_tool("read_inbox", {"message": secret}))
        with pytest.raises(Exception, match=secret):
            await spy.read_resource(f"covey://thread/{secret}")


async def test_the_operator_acts_without_a_session(server: HttpServer) -> None:
    server.token("worker", "--register")
    async with server.client(server.token("--operator"), "2026-07-28") as operator:
        sent = await operator.call_tool("send_message", {"to": "worker", "message": "Stop."})
        assert not sent.is_error
        assert not (await operator.call_tool("read_inbox", {})).is_error
    (item,) = server.folder.covey("inbox", "worker", "--json").json
    assert (item["from"], item["grade"]) == ("operator", "token")


def test_without_a_valid_token_every_request_is_refused(server: HttpServer) -> None:
    token = server.token("revoked", "--register")
    listed = server.folder.covey("token", "list", "--json").json
    server.folder.covey("token", "revoke", next(item["id"] for item in listed if item["agent"] == "revoked"))
    for headers in (
        {},
        bearer("covey_" + "x" * 43),
        bearer(token),
        bearer(""),
        {"Authorization": "Basic Zm9vOmJhcg=="},
    ):
        status, said = server.post(headers, HELLO_2025)
        assert status == 401
        assert token not in said


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_request_with_a_foreign_host_or_origin_is_refused(
    server: HttpServer, headers: dict[str, str], status: int
) -> None:
    port = str(urlsplit(server.url).port)
    written = {name: value.replace("{port}", port) for name, value in headers.items()}
    token = server.token("caller", "--register")
    assert server.post(bearer(token) | written, HELLO_2025)[0] == status


def test_a_port_in_use_is_reported(server: HttpServer) -> None:
    place = urlsplit(server.url).netloc
    said = server.folder.covey("mcp", "--http", place)
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert f"{place} can't be listened on" in said.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, DONE)])
async def test_a_signal_ends_the_server_and_the_sessions_of_its_clients(
    folder: Folder, number: signal.Signals, code: int
) -> None:
    with http_server(folder) as server:
        async with (
            server.client(server.token("coder", "--register"), "2026-07-28") as coder,
            coder.listen(resource_subscriptions=["covey://inbox"]) as heard,
        ):
            assert len(server.sessions("coder")) == 1
            server.process.process.send_signal(number)
            with pytest.raises(StopAsyncIteration):
                await soon(anext(heard))
        said = server.process.end()
    assert (said.code, "Traceback" in said.err) == (code, False)
    (left,) = folder.covey("log", "--action", "session.ended", "--json").json_lines
    assert left["details"]["reason"] == "left"
