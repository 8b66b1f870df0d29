"""Connecting to real servers: successful connections, and the error of each failure."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.errors import Error
from nats.js.errors import APIError

from covey.adapters.nats.client.connection import MAX_APART_S, Account, account_of, connect
from covey.adapters.nats.client.errors import explained
from covey.adapters.nats.client.requests import ask, publish
from covey.adapters.nats.client.settings import NatsSettings, nats_settings, new_key
from covey.core.errors import (
    ClocksApart,
    CoveyError,
    NatsNoJetStream,
    NatsPayloadSmall,
    NatsRefused,
    NatsStorageFull,
    NatsUnreachable,
    NatsUntrusted,
)
from tests.nats.certificates import tls_files
from tests.nats.servers import NatsServer, free_address, one_node, three_nodes

PASSWORD = "correct-h0rse"


def settings_of(server: NatsServer, login: str = "", *, is_tls: bool = False, **options: str) -> NatsSettings:
    return nats_settings(f"{login}{server.address}/team", {"limit": "5", **options}, {}, is_tls=is_tls)


async def visit(settings: NatsSettings) -> Account:
    """Connect, query the account, and close."""
    client = await connect(settings)
    try:
        return await account_of(client, settings)
    finally:
        await client.close()


async def failure(settings: NatsSettings) -> CoveyError:
    """Return the error of a visit. It must contain no secret, and must give advice."""
    with pytest.raises(CoveyError) as error:
        await visit(settings)
    assert PASSWORD not in f"{error.value} {error.value.details}"
    assert error.value.advice
    return error.value


async def test_one_node_without_users_accepts_any_client(tmp_path: Path) -> None:
    with one_node(tmp_path) as server:
        account = await visit(settings_of(server))
    assert account.principal == "_"
    assert abs(account.apart_s) < 1
    assert account.max_payload == 1024 * 1024


async def test_an_address_without_a_listener_is_unreachable() -> None:
    settings = nats_settings(f"me:{PASSWORD}@{free_address()}/team", {"limit": "5"}, {})
    assert isinstance(await failure(settings), NatsUnreachable)


async def test_a_silent_server_is_unreachable_after_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        error = await failure(nats_settings(f"{host}:{port}/team", {"limit": "0.5"}, {}))
    assert isinstance(error, NatsUnreachable)


async def test_the_other_servers_of_a_url_are_tried(tmp_path: Path) -> None:
    with one_node(tmp_path) as server:
        settings = nats_settings(f"{free_address()},{server.address}/team", {}, {})
        assert (await visit(settings)).principal == "_"


async def test_a_server_without_jetstream_is_reported(tmp_path: Path) -> None:
    server = NatsServer(tmp_path, {})
    try:
        server.start()
        assert isinstance(await failure(settings_of(server)), NatsNoJetStream)
    finally:
        server.stop()


USERS = {"authorization": {"users": [{"user": "me", "password": PASSWORD}]}}
TOKEN = {"authorization": {"token": PASSWORD}}


@pytest.mark.parametrize(("config", "login"), [(USERS, f"me:{PASSWORD}@"), (TOKEN, f"{PASSWORD}@")])
async def test_correct_credentials_are_accepted_and_others_refused(
    tmp_path: Path, config: Mapping[str, object], login: str
) -> None:
    with one_node(tmp_path, config) as server:
        assert (await visit(settings_of(server, login))).principal == "_"
        for wrong in (login.replace("rse", "rs"), ""):
            assert isinstance(await failure(settings_of(server, wrong)), NatsRefused)


async def test_a_known_key_is_accepted_and_others_refused(tmp_path: Path) -> None:
    key, other = new_key(), new_key()
    (tmp_path / "key").write_text(key.seed)
    (tmp_path / "other").write_text(other.seed)
    with one_node(tmp_path, {"authorization": {"users": [{"nkey": key.public}]}}) as server:
        assert (await visit(settings_of(server, nkey=str(tmp_path / "key")))).principal == "_"
        refused = await failure(settings_of(server, nkey=str(tmp_path / "other")))
    assert isinstance(refused, NatsRefused)
    assert other.seed not in f"{refused} {refused.details}"


async def test_a_tls_server_is_reached_with_its_authority_and_not_without(tmp_path: Path) -> None:
    files = tls_files(tmp_path / "tls")
    with one_node(tmp_path, files.server()) as server:
        await visit(settings_of(server, is_tls=True, tls_ca=str(files.ca)))
        assert isinstance(await failure(settings_of(server, is_tls=True)), NatsUntrusted)


def test_a_command_over_tls_prints_only_its_result(tmp_path: Path) -> None:
    files = tls_files(tmp_path / "tls")
    with one_node(tmp_path / "server", files.server()) as server:
        url = f"tls://{server.address}/team?tls_ca={files.ca}&cache={tmp_path / 'cache'}"
        words = [sys.executable, "-m", "covey", "--store", url]
        subprocess.run([*words, "init"], capture_output=True, timeout=30, check=True)
        done = subprocess.run([*words, "agents"], capture_output=True, text=True, timeout=30, check=True)
    assert "Nobody is known here" in done.stdout
    assert done.stderr == ""


async def test_a_server_may_require_the_certificate_of_its_client(tmp_path: Path) -> None:
    files = tls_files(tmp_path / "tls")
    with one_node(tmp_path, files.server(verify=True)) as server:
        await visit(
            settings_of(server, tls_ca=str(files.ca), tls_cert=str(files.client_cert), tls_key=str(files.client_key))
        )
        error = await failure(settings_of(server, tls_ca=str(files.ca)))
    assert isinstance(error, NatsUntrusted | NatsUnreachable)


async def test_a_password_is_not_sent_in_plain_text_if_tls_was_requested(tmp_path: Path) -> None:
    with one_node(tmp_path, {**USERS, "trace": True, "debug": True}) as server:
        error = await failure(settings_of(server, f"me:{PASSWORD}@", is_tls=True))
        assert "CONNECT" not in server.log
    assert isinstance(error, NatsUntrusted)


async def test_a_server_with_a_small_message_limit_is_refused(tmp_path: Path) -> None:
    with one_node(tmp_path, {"max_payload": 65536}) as server:
        error = await failure(settings_of(server))
    assert isinstance(error, NatsPayloadSmall)
    assert error.details["size"] == 65536


@pytest.mark.parametrize("apart_s", [-MAX_APART_S - 5, MAX_APART_S + 5])
async def test_clocks_that_differ_too_much_are_an_error(tmp_path: Path, apart_s: float) -> None:
    with one_node(tmp_path) as server:
        settings = settings_of(server)
        client = await connect(settings)
        with pytest.raises(ClocksApart) as error:
            await account_of(client, settings, lambda: datetime.now(UTC) + timedelta(seconds=apart_s))
        await client.close()
    assert error.value.details["seconds"] == pytest.approx(apart_s, abs=2)


async def make_stream(client: Client, name: str, replicas: int = 1) -> None:
    await ask(client, f"STREAM.CREATE.{name}", {"name": name, "subjects": [name], "num_replicas": replicas}, 5)


async def fill(client: Client) -> None:
    for _ in range(20):
        await publish(client, "room", b"x" * 200_000, None, 5)


async def test_too_little_storage_is_reported(tmp_path: Path) -> None:
    with one_node(tmp_path, max_file_store=1 << 20) as server:
        settings = settings_of(server)
        client = await connect(settings)
        await make_stream(client, "room")
        with pytest.raises(APIError) as error:
            await fill(client)
        await client.close()
    assert isinstance(explained(error.value, settings), NatsStorageFull)


async def test_more_replicas_than_servers_are_invalid(tmp_path: Path) -> None:
    with one_node(tmp_path) as server:
        settings = settings_of(server, replicas="3")
        client = await connect(settings)
        with pytest.raises(APIError) as error:
            await make_stream(client, "r", 3)
        await client.close()
    found = explained(error.value, settings)
    assert found.code == "invalid"
    assert found.details["what"] == "replicas"


async def test_a_connection_is_restored_after_its_server_restarts(tmp_path: Path) -> None:
    back = asyncio.Event()

    async def reconnected() -> None:
        back.set()

    with one_node(tmp_path) as server:
        client: Client = await connect(settings_of(server), reconnected_cb=reconnected)
        server.kill()
        server.start()
        await asyncio.wait_for(back.wait(), 10)
        assert (await account_of(client, settings_of(server))).principal == "_"
        await client.close()


async def insisted(client: Client, content: bytes) -> int:
    """Publish to the stream "three" once, with retries if no answer arrives. Return the sequence number."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await publish(client, "three", content, {"Nats-Msg-Id": content.decode()}, 2)
            except (Error, TimeoutError):
                await asyncio.sleep(0.1)


async def test_three_nodes_survive_the_loss_of_their_leader(tmp_path: Path) -> None:
    with three_nodes(tmp_path) as cluster:
        settings = nats_settings(f"{cluster.url.removeprefix('nats://')}/team", {}, {})
        client = await connect(settings)
        await make_stream(client, "three", 3)
        first = await insisted(client, b"1")  # not every node may know the stream yet
        cluster.leader_of("three").kill()
        assert await insisted(client, b"2") == first + 1
        await client.close()
