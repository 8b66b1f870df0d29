"""Servers that fall silent or are gone: whoever waits there goes elsewhere, and whoever leaves meets no error."""

import asyncio
import threading
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.client import patience
from covey.adapters.nats.client.connecting import connected, go_elsewhere, left
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.patient import patient_call
from covey.adapters.nats.client.settings import nats_settings
from covey.adapters.nats.log.log import NatsLog
from covey.core.errors import Unavailable
from tests.nats.relay import Relay, relay
from tests.nats.servers import Address, NatsServer, one_node
from tests.nats.spaces import OpenedLiveness

LIMIT_S = 20.0
LEASE_S = 3
"""Shorter than it takes the client to notice by itself that a server is silent."""
TRY_S = 0.4


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for answers for a moment only."""
    monkeypatch.setattr(patience, "TRY_S", TRY_S)
    monkeypatch.setattr(patience, "LEAVE_S", 2 * TRY_S)


@pytest.fixture
def way(server: NatsServer) -> Generator[Relay]:
    with relay(server.address) as way:
        yield way


async def be_at(client: Client, address: Address) -> None:
    """Let the client be connected to a server by this address."""
    async with asyncio.timeout(LIMIT_S):
        while not client.is_connected or client.connected_url is None or client.connected_url.port != address.port:
            await go_elsewhere(client)
            await asyncio.sleep(0.01)


async def answered(client: Client, limit_s: float) -> None:
    """Be answered by the server."""
    await client.request("$SYS.REQ.USER.INFO", b"", timeout=limit_s)


async def fill(client: Client) -> None:
    """Publish until nobody takes any more."""
    loop = asyncio.get_running_loop()
    took_s = 0.0
    while took_s < 1:
        begun = loop.time()
        await client.publish("nobody", bytes(1_000_000))
        took_s = loop.time() - begun


async def test_who_leaves_a_server_comes_to_all_others_before_it_again(server: NatsServer) -> None:
    with relay(server.address) as second, relay(server.address) as third:
        addresses = [server.address, second.address, third.address]
        again = asyncio.Event()

        async def tell() -> None:
            again.set()

        settings = nats_settings(",".join(map(str, addresses)) + "/team", {}, {})
        client = await connected(settings, reconnected_cb=tell)
        try:
            seen: list[int] = []
            for address in addresses * 3:
                await be_at(client, address)
                await go_elsewhere(client)
                assert not client.is_connected
                async with asyncio.timeout(LIMIT_S):
                    while not client.is_connected:
                        again.clear()  # it may tell of the time before
                        await again.wait()
                assert client.connected_url is not None
                assert client.connected_url.port != address.port
                seen.append(client.connected_url.port or 0)
            assert len(set(seen)) > 1
        finally:
            await client.close()


async def test_a_client_comes_back_though_somebody_who_is_told_of_it_fails(server: NatsServer, way: Relay) -> None:
    again = asyncio.Event()
    failures = iter([OSError("closed"), RuntimeError("unforeseen")])

    async def fail() -> None:
        for failure in failures:
            raise failure

    async def tell() -> None:
        again.set()

    settings = nats_settings(f"{way.address},{server.address}/team", {}, {})
    client = await connected(settings, disconnected_cb=fail, reconnected_cb=tell)
    try:
        await go_elsewhere(client)
        async with asyncio.timeout(LIMIT_S):
            await again.wait()
        await answered(client, LIMIT_S)
    finally:
        await client.close()


@pytest.mark.usefixtures("hasty")
def test_a_lease_is_kept_though_the_server_has_fallen_silent(place: str, way: Relay, tmp_path: Path) -> None:
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
def test_what_a_silent_server_does_not_take_keeps_nobody_from_going_elsewhere(server: NatsServer, way: Relay) -> None:
    settings = nats_settings(f"{way.address},{server.address}/team", {"limit": str(LIMIT_S)}, {})
    link = Link(settings).share()

    async def talk(client: Client) -> None:
        await be_at(client, way.address)
        way.fall_silent()
        await fill(client)

    try:
        link.call(talk, LIMIT_S)
        patient_call(link, answered, LIMIT_S)
    finally:
        link.release()


async def test_a_client_that_has_cancelled_what_it_waits_for_is_left_all_the_same(server: NatsServer) -> None:
    client = await connected(nats_settings(f"{server.address}/team", {}, {}))
    waiting = asyncio.create_task(client._transport.wait_closed())  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess] # as the client does when it connects again
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await left(client)
    assert client.is_closed


async def test_who_is_cancelled_while_it_leaves_is_cancelled(way: Relay) -> None:
    client = await connected(nats_settings(f"{way.address}/team", {}, {}))
    way.fall_silent()
    await fill(client)
    leaving = asyncio.create_task(left(client))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    client.cut()


def test_a_link_ends_without_an_error_when_its_server_is_gone(tmp_path: Path) -> None:
    with one_node(tmp_path) as server:
        link = Link(nats_settings(f"{server.address}/team", {}, {})).share()

        async def leave_unsent(client: Client) -> None:
            server.kill()
            await client.publish("nobody", bytes(1_000_000))

        link.call(leave_unsent, LIMIT_S)
        link.release()


def test_a_link_ends_soon_and_without_an_error_when_its_server_is_silent(way: Relay) -> None:
    link = Link(nats_settings(f"{way.address}/team", {}, {})).share()

    async def leave_unsent(client: Client) -> None:
        way.fall_silent()
        await fill(client)

    link.call(leave_unsent, LIMIT_S)
    releasing = threading.Thread(target=link.release, daemon=True)
    releasing.start()
    releasing.join(LIMIT_S)
    assert not releasing.is_alive()


def test_who_is_refused_for_what_does_not_come_does_not_go_on_as_if_others_were_first(server: NatsServer) -> None:
    """As at a leader that has lost the others: it refuses for the sake of a record that it will never have kept."""
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


def test_records_come_from_the_leader_where_nobody_answers_a_direct_read(tmp_path: Path) -> None:
    """As while a server is cut off unawares: the others send it its share of such questions."""
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


def test_what_a_server_complains_of_does_not_end_a_connection_for_good(way: Relay) -> None:
    link = Link(nats_settings(f"{way.address}/team", {"limit": str(LIMIT_S)}, {})).share()
    lost = threading.Event()
    link.on_disconnect(lost.set)
    try:
        assert link.account.is_owner
        way.say(b"-ERR 'maximum account active connections exceeded'\r\n")
        assert lost.wait(LIMIT_S)
        patient_call(link, answered, LIMIT_S)
    finally:
        link.release()
