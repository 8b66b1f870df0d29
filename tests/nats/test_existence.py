"""A space that is not on the server is reported as missing; reading creates neither streams nor a replica."""

import asyncio
from pathlib import Path

import pytest

from covey.adapters.nats.client.connection import connect
from covey.adapters.nats.client.requests import ask
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from covey.surfaces.cli.main import main
from tests.nats.servers import NatsServer
from tests.nats.spaces import settings_of


async def streams(place: str) -> list[str]:
    client = await connect(settings_of(place))
    try:
        return (await ask(client, "STREAM.NAMES", None, 5.0)).get("streams") or []
    finally:
        await client.close()


@pytest.mark.parametrize("words", [("gate", "T-1"), ("inbox", "coder"), ("owed",), ("doctor",), ("sweep", "T-1")])
def test_reading_a_missing_space_creates_nothing(
    words: tuple[str, ...],
    server: NatsServer,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COVEY_AGENT", "coder")
    store = f"nats://{place}?cache={tmp_path}/cache"
    before = asyncio.run(streams(place))
    assert main((*words, "--store", store)) == UNAVAILABLE
    assert "covey init" in "".join(capsys.readouterr())
    assert asyncio.run(streams(place)) == before
    assert not list(tmp_path.rglob("*"))


def test_a_space_that_another_machine_created_exists(
    server: NatsServer, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("init", "--store", f"nats://{place}?cache={tmp_path}/here")) == DONE
    assert main(("gate", "T-1", "--store", f"nats://{place}?cache={tmp_path}/there")) == DONE
    assert "Nothing is owed" in capsys.readouterr().out
