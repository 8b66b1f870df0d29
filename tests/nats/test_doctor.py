"""The durability of accepted messages on a server, as it is declared and as the doctor reports it."""

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from nats.aio.client import Client

import covey
from covey.adapters.nats.client.requests import ask
from covey.adapters.nats.log import streams
from covey.core.errors import StoreClosed
from covey.core.formats.nats_names import SpaceName, lease_stream, log_stream
from covey.core.json import Json
from covey.ports.store import Survives
from covey.surfaces.cli.main import main
from tests.nats.servers import Cluster, NatsServer, free_address, one_node, three_nodes

LIMIT_S = 5.0


class Patient:
    """A space on a server, and the doctor's findings about it."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url = url
        self._capsys = capsys

    def covey(self, *words: str) -> Any:
        main(["--store", self.url, *words, "--json"])
        return json.loads(self._capsys.readouterr().out)

    def found(self) -> Sequence[str]:
        return [finding["code"] for finding in self.covey("doctor", "--quick")["findings"]]


async def declared(url: str) -> Survives:
    async with covey.open(url) as space:
        await space.join("coder")
        ports = space.services._ports  # pyright: ignore[reportPrivateUsage] # only adapters are asked for it
        return ports.store.capabilities.survives


def place(server: NatsServer, tmp_path: Path, more: str = "") -> str:
    return f"nats://{server.address}/team?cache={tmp_path / 'cache'}{more}"


@pytest.mark.parametrize(
    ("settings", "monitored", "survived", "found"),
    [
        ({}, False, Survives.PROCESS, ["server-may-lose-newest"]),
        ({}, True, Survives.PROCESS, ["server-may-lose-newest"]),
        ({"sync_interval": "10s"}, True, Survives.PROCESS, ["server-may-lose-newest"]),
        ({"sync_interval": "always"}, False, Survives.PROCESS, ["server-may-lose-newest"]),
        ({"sync_interval": "always"}, True, Survives.MACHINE, []),
    ],
)
async def test_the_durability_of_one_node_is_that_reported_by_its_monitor(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    settings: dict[str, Any],
    monitored: bool,
    survived: Survives,
    found: list[str],
) -> None:
    with one_node(tmp_path / "server", None, include="", **settings) as server:
        url = place(server, tmp_path, f"&monitor={server.monitor}" if monitored else "")
        assert await declared(url) is survived
        assert Patient(url, capsys).found() == found


def test_the_finding_says_its_meaning_and_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with one_node(tmp_path / "server", sync_interval="7s") as server:
        patient = Patient(place(server, tmp_path, f"&monitor={server.monitor}"), capsys)
        patient.covey("send", "hi", "--from", "a", "--to", "b", "--register")
        (finding,) = patient.covey("doctor", "--quick")["findings"]
    assert "syncs every 7 s" in finding["what"]
    assert "sync_interval: always" in finding["advice"]


def test_an_unreachable_monitor_promises_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with one_node(tmp_path / "server", sync_interval="always") as server:
        patient = Patient(place(server, tmp_path, f"&monitor=http://{free_address()}"), capsys)
        patient.covey("send", "hi", "--from", "a", "--to", "b", "--register")
        assert patient.found() == ["server-may-lose-newest"]


def test_an_unreachable_server_is_not_examined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patient = Patient(f"nats://{free_address()}/team?cache={tmp_path}&limit=1", capsys)
    document = patient.covey("doctor", "--quick")
    assert document["healthy"] is False
    assert {finding["code"] for finding in document["findings"]} == {"not-examined"}
    assert "no NATS server answers" in document["findings"][0]["what"]


def test_storage_that_runs_out_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"accounts": {"A": {"jetstream": {"max_file": 400_000}, "users": [{"user": "u", "password": "p"}]}}}
    with one_node(tmp_path / "server", limits, sync_interval="always") as server:
        url = f"nats://u:p@{server.address}/team?cache={tmp_path / 'cache'}&monitor={server.monitor}"
        patient = Patient(url, capsys)
        chance = Random(1)
        for _ in range(2):
            patient.covey("send", chance.randbytes(150_000).hex(), "--from", "a", "--to", "b", "--register")
        assert patient.found() == ["server-room-short"]


async def test_three_nodes_survive_the_loss_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with three_nodes(tmp_path / "server") as cluster:
        whole: Cluster = cluster
        url = f"{whole.url}/team?cache={tmp_path / 'cache'}"
        assert await declared(url) is Survives.NODE
        until_found(Patient(url, capsys), [])  # a new copy takes a moment to be up to date
        single = Patient(f"{whole.url}/alone?replicas=1&cache={tmp_path / 'alone'}", capsys)
        single.covey("send", "hi", "--from", "a", "--to", "b", "--register")
        assert single.found() == ["server-may-lose-newest", "server-few-copies"]
        wide = Patient(single.url.replace("replicas=1", "replicas=3"), capsys)
        assert "error" not in wide.covey("agents")
        assert await declared(wide.url) is Survives.NODE
        until_found(wide, [])  # not `single`: its URL still asks for one copy, and would change the stream back


async def test_an_interrupted_change_of_copies_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, leases = log_stream(SpaceName("team")), lease_stream(SpaceName("team"))

    async def cut_off(client: Client, subject: str, body: Mapping[str, Json] | None, limit_s: float) -> dict[str, Any]:
        if subject == f"STREAM.UPDATE.{leases}":
            raise StoreClosed
        return await ask(client, subject, body, limit_s)

    with three_nodes(tmp_path / "server") as cluster:
        url = f"{cluster.url}/team?cache={tmp_path / 'cache'}"
        assert "error" not in Patient(f"{url}&replicas=1", capsys).covey("init")
        wide = Patient(f"{url}&replicas=3", capsys)
        with monkeypatch.context() as patch:
            patch.setattr(streams, "ask", cut_off)
            assert wide.covey("agents")["error"]["code"] == StoreClosed.code
        assert "error" not in wide.covey("agents")
        async with client_of(cluster) as client:
            for stream in (log, leases):
                assert (await ask(client, f"STREAM.INFO.{stream}", None, LIMIT_S))["config"]["num_replicas"] == 3


@asynccontextmanager
async def client_of(cluster: Cluster) -> AsyncGenerator[Client]:
    client = Client()
    await client.connect(cluster.url.split(","))
    try:
        yield client
    finally:
        await client.close()


def until_found(patient: Patient, wanted: Sequence[str]) -> None:
    """Wait until the doctor has exactly these findings: copies are made in the background."""
    end = time.monotonic() + 20
    while (found := patient.found()) != wanted:
        assert time.monotonic() < end, found


def test_more_copies_than_servers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with one_node(tmp_path / "server") as server:
        Patient(place(server, tmp_path), capsys).covey("init")
        refused = Patient(place(server, tmp_path, "&replicas=3"), capsys).covey("agents")
    assert refused["error"]["code"] == "invalid"
    assert "too few servers" in refused["error"]["message"]
