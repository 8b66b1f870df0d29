"""Servers that fall silent or are gone: waiting clients reconnect elsewhere, and closing raises no error."""

import asyncio
import threading
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.client import retries as patience
from covey.adapters.nats.client.connection import change_server, connect, disconnect
from covey.adapters.nats.client.link import Link, call_with_retries
from covey.adapters.nats.client.settings import nats_settings
from covey.adapters.nats.log.log import NatsLog
from covey.core.errors import Unavailable
from tests.nats.relay import Relay, relay
from tests.nats.servers import Address, NatsServer, one_node
from tests.nats.spaces import OpenedLiveness

LIMIT_S = 20.0
LEASE_S = 3
"""Shorter than the time that the client needs to notice a silent server by itself."""
TRY_S = 0.4


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time to wait for answers."""
    monkeypatch.setattr(patience, "TRY_S", TRY_S)
    monkeypatch.setattr(patience, "LEAVE_S", 2 * TRY_S)


@pytest.fixture
def way(server: NatsServer) -> Generator[Relay]:
    with relay(server.address) as way:
        yield way


async def be_at(client: Client, address: Address) -> None:
    """Connect the client to a server at this address."""
    async with asyncio.timeout(LIMIT_S):
        while not client.is_connected or client.connected_url is None or client.connected_url.port != address.port:
            await change_server(client)
            await asyncio.sleep(0.01)


async def answered(client: Client, limit_s: float) -> None:
    """Return when the server has answered."""
    await client.request("$SYS.REQ.USER.INFO", b"", timeout=limit_s)


async def fill(client: Client) -> None:
    """Publish until the connection accepts no more."""
    loop = asyncio.get_running_loop()
    took_s = 0.0
    while took_s < 1:
        begun = loop.time()
        await client.publish("nobody", bytes(1_000_000))
        took_s = loop.time() - begun


async def test_a_client_that_leaves_a_server_tries_all_others_before_it_returns(server: NatsServer) -> None:
    with relay(server.address) as second, relay(server.address) as third:
        addresses = [server.address, second.address, third.address]
        again = asyncio.Event()

        async def tell() -> None:
            again.set()

        settings = nats_settings(",".join(map(str, addresses)) + "/team", {}, {})
        client = await connect(settings, reconnected_cb=tell)
        try:
            seen: list[int] = []
            for address in addresses * 3:
                await be_at(client, address)
                await change_server(client)
                assert not client.is_connected
                async with asyncio.timeout(LIMIT_S):
                    while not client.is_connected:
                        again.clear()  # the event may be from the connection before
                        await again.wait()
                assert client.connected_url is not None
                assert client.connected_url.port != address.port
                seen.append(client.connected_url.port or 0)
            assert len(set(seen)) > 1
        finally:
            await client.close()


async def test_a_client_reconnects_even_if_a_callback_fails(server: NatsServer, way: Relay) -> None:
    again = asyncio.Event()
    failures = iter([OSError("closed"), RuntimeError("unforeseen")])

    async def fail() -> None:
        for failure in failures:
            raise failure

    async def tell() -> None:
        again.set()

    settings = nats_settings(f"{way.address},{server.address}/team", {}, {})
    client = await connect(settings, disconnected_cb=fail, reconnected_cb=tell)
    try:
        await change_server(client)
        async with asyncio.timeout(LIMIT_S):
            await again.wait()
        await answered(client, LIMIT_S)
    finally:
        await client.close()


@pytest.mark.usefixtures("hasty")
def test_a_lease_is_kept_although_the_server_has_fallen_silent(place: str, way: Relay, tmp_path: Path) -> None:
    with (
        closing(OpenedLiveness(place, str(tmp_path / "here"), str(LEASE_S))) as here,
        closing(OpenedLiveness(f"{way.address},{place}", str(tmp_path / "there"), str(LEASE_S))) as there,
    ):
        here.hold()
        holder = there.hold()
        there.link.call(lambda client: be_at(client, way.address), LIMIT_S)
        way.fall_silent()
        end = time.monotonic() + 1.5 * LEASE_S
        while time.monotonic() < end:
            assert here.is_held(holder)
            time.sleep(0.1)


@pytest.mark.usefixtures("hasty")
def test_data_that_a_silent_server_does_not_accept_does_not_prevent_a_reconnection(
    server: NatsServer, way: Relay
) -> None:
    settings = nats_settings(f"{way.address},{server.address}/team", {"limit": str(LIMIT_S)}, {})
    link = Link(settings).share()

    async def talk(client: Client) -> None:
        await be_at(client, way.address)
        way.fall_silent()
        await fill(client)

    try:
        link.call(talk, LIMIT_S)
        call_with_retries(link, answered, LIMIT_S)
    finally:
        link.release()


async def test_a_client_with_a_cancelled_internal_wait_can_be_closed(server: NatsServer) -> None:
    client = await connect(nats_settings(f"{server.address}/team", {}, {}))
    waiting = asyncio.create_task(client._transport.wait_closed())  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess] # as the client does when it connects again
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await disconnect(client)
    assert client.is_closed


async def test_a_cancelled_close_is_cancelled(way: Relay) -> None:
    client = await connect(nats_settings(f"{way.address}/team", {}, {}))
    way.fall_silent()
    await fill(client)
    leaving = asyncio.create_task(disconnect(client))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    client.cut()


def test_a_link_closes_without_an_error_when_its_server_is_gone(tmp_path: Path) -> None:
    with one_node(tmp_path) as server:
        link = Link(nats_settings(f"{server.address}/team", {}, {})).share()

        async def leave_unsent(client: Client) -> None:
            server.kill()
            await client.publish("nobody", bytes(1_000_000))

        link.call(leave_unsent, LIMIT_S)
        link.release()


def test_a_link_closes_soon_and_without_an_error_when_its_server_is_silent(way: Relay) -> None:
    link = Link(nats_settings(f"{way.address}/team", {}, {})).share()

    async def leave_unsent(client: Client) -> None:
        way.fall_silent()
        await fill(client)

    link.call(leave_unsent, LIMIT_S)
    releasing = threading.Thread(target=link.release, daemon=True)
    releasing.start()
    releasing.join(LIMIT_S)
    assert not releasing.is_alive()


def test_an_append_that_is_refused_for_a_record_that_never_arrives_fails(server: NatsServer) -> None:
    """This happens at a leader that has lost the other nodes: it refuses for a record that it will never keep."""
    link = Link(nats_settings(f"{server.address}/refused", {"limit": "1"}, {}))
    log = NatsLog(link, lambda _: None)
    try:
        log.make()
        assert log.append(b"a record", 0, "first") == 1
        assert log.append(b"a record", 7, "second") is None
        with pytest.raises(Unavailable):
            log.append(b"a record", 7, "third")
        assert log.append(b"a record", 1, "fourth") == 2
    finally:
        log.close()


def test_records_are_read_from_the_leader_if_a_direct_read_is_not_answered(tmp_path: Path) -> None:
    """This happens while a server is cut off unnoticed: the other servers still route some direct reads to it."""
    deaf = {"user": "deaf", "password": "deaf", "permissions": {"publish": {"deny": ["$JS.API.DIRECT.GET.>"]}}}
    users = [{"user": "op", "password": "op"}, deaf]
    with one_node(tmp_path / "server", {"authorization": {"users": users}}) as server:
        logs = [
            NatsLog(Link(nats_settings(f"{who}:{who}@{server.address}/team", {"limit": "10"}, {})), lambda _: None)
            for who in ("op", "deaf")
        ]
        try:
            logs[0].make()
            for n in range(5):
                assert logs[0].append(f"record {n}".encode(), n, f"id {n}") == n + 1
            near, far = ([entry.position for entry in log.after(2, 10) or ()] for log in logs)
            assert near == far == [3, 4, 5]
            assert logs[1].after(5, 10) == []
        finally:
            for log in logs:
                log.close()


def test_an_error_from_the_server_does_not_end_a_connection_permanently(way: Relay) -> None:
    link = Link(nats_settings(f"{way.address}/team", {"limit": str(LIMIT_S)}, {})).share()
    lost = threading.Event()
    link.on_disconnect(lost.set)
    try:
        assert link.account.is_owner
        way.say(b"-ERR 'maximum account active connections exceeded'\r\n")
        assert lost.wait(LIMIT_S)
        call_with_retries(link, answered, LIMIT_S)
    finally:
        link.release()
