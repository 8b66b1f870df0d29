"""Turns among machines that write at once: who was too late more often goes first, and nobody waits for ever."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.client.steady import SteadyClient
from covey.adapters.nats.log import adding as turns
from covey.adapters.nats.log.adding import Turns
from covey.core.formats.nats_names import ANYONE, SpaceName, want_subject
from tests.nats.servers import one_node

TEAM = SpaceName("team")


@asynccontextmanager
async def two_clients(folder: Path) -> AsyncGenerator[tuple[Client, Client]]:
    with one_node(folder) as server:
        ours, theirs = SteadyClient(), SteadyClient()
        for client in (ours, theirs):
            await client.connect(server.url)
        try:
            yield ours, theirs
        finally:
            await ours.close()
            await theirs.close()


async def lose(loser: Turns, client: Client, times: int) -> None:
    for _ in range(times):
        await loser.tell(client, ANYONE, is_lost=True)
    await client.flush()


async def test_who_was_late_less_often_holds_back_until_the_other_had_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "HOLD_S", 30.0)
    async with two_clients(tmp_path) as (ours, theirs):
        winner, loser = Turns(TEAM), Turns(TEAM)
        await winner.hold_back(ours)  # nobody wants anything: it goes on at once
        await ours.flush()
        await lose(loser, theirs, turns.LOST)
        async with asyncio.timeout(10):
            # What has arrived is still handed over to whoever listens, and nothing tells when that is done.
            while winner.is_calm():  # noqa: ASYNC110 - as said
                await asyncio.sleep(0.01)
        holding = asyncio.create_task(winner.hold_back(ours))
        await asyncio.sleep(0)
        assert not holding.done()
        await loser.hold_back(theirs)  # who lost more often does not hold back
        await loser.tell(theirs, ANYONE, is_lost=False)
        async with asyncio.timeout(10):
            await holding


async def test_nobody_holds_back_for_long_or_for_nonsense(tmp_path: Path) -> None:
    async with two_clients(tmp_path) as (ours, theirs):
        winner = Turns(TEAM)
        await winner.hold_back(ours)
        await ours.flush()
        await lose(Turns(TEAM), theirs, 9)
        for nonsense in (b"", b"\xff\xfe 3", b"somebody", b"somebody many", b"0123456789abcdef 99999999999"):
            await theirs.publish(want_subject(TEAM, ANYONE), nonsense)
        await theirs.flush()
        await ours.flush()
        async with asyncio.timeout(10):
            await winner.hold_back(ours)
