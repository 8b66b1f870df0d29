"""The outcome of a send if the server does not answer, has no storage or no streams: a true error, and soon."""

import asyncio
import json
from pathlib import Path
from random import Random

import pytest

import covey
from covey.core.errors import NatsNoJetStream, NatsStorageFull, Unavailable
from covey.core.names import MessageId
from covey.surfaces.cli.main import main
from tests.nats.servers import NatsServer, one_node

SOON_S = 10.0
"""Shorter than the limit of waiting for servers that may return."""


async def test_a_message_with_an_unknown_outcome_is_sent_again_under_its_id_and_is_there_once(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as server:
        async with covey.open(f"{server.url}/team?cache={tmp_path / 'cache'}&limit=1") as space:
            ann, bob = await space.join("ann"), await space.join("bob")
            server.cut_off()
            try:
                with pytest.raises(Unavailable, match="not known") as caught:
                    await ann.send("bob", "is it there?")
            finally:
                server.rejoin()
            message_id = caught.value.details["message_id"]
            assert str(message_id) in caught.value.message
        async with covey.open(f"{server.url}/team?cache={tmp_path / 'cache'}") as space:
            ann, bob = await space.join("ann"), await space.join("bob")
            receipt = await ann.send("bob", "is it there?", id=MessageId(str(message_id)))
            assert receipt.message_id == message_id
            assert [message.text for message in await bob.inbox.peek()] == ["is it there?"]


async def test_a_failed_read_says_that_nothing_was_accepted(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as server:
        url = f"{server.url}/team?cache={tmp_path / 'cache'}&limit=1"
        async with covey.open(url) as space:
            await space.join("ann")
            server.cut_off()
            try:
                with pytest.raises(Unavailable, match=r"nothing was accepted|no answer"):
                    async with covey.open(url) as other:
                        await other.agents()
            finally:
                server.rejoin()


def test_a_server_without_storage_is_reported_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def send(n: int) -> int:
        text = Random(n).randbytes(100_000).hex()
        return main(["--store", url, "send", text, "--from", "ann", "--to", "bob", "--register", "--json"])

    with one_node(tmp_path / "server", max_file_store=300_000) as server:
        url = f"{server.url}/team?cache={tmp_path / 'cache'}"
        assert any(map(send, range(10))), "there is always room"
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["error"]["code"] == NatsStorageFull.code


async def test_a_server_without_streams_is_reported_soon(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "server", {})
    server.start()
    try:
        async with asyncio.timeout(SOON_S):
            with pytest.raises(NatsNoJetStream):
                async with covey.open(f"{server.url}/team?cache={tmp_path / 'cache'}") as space:
                    await space.agents()
    finally:
        server.stop()
