"""Turns among machines that write at once: a machine that lost more often goes first, and every wait has a limit."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client

from covey.adapters.nats.client.steady import SteadyClient
from covey.adapters.nats.log import appender as turns
from covey.adapters.nats.log.appender import Fairness
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


async def lose(loser: Fairness, client: Client, times: int) -> None:
    for _ in range(times):
        await loser.tell(client, ANYONE, is_lost=True)
    await client.flush()


async def test_a_machine_that_lost_less_often_holds_back_until_the_other_had_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "HOLD_S", 30.0)
    async with two_clients(tmp_path) as (ours, theirs):
        winner, loser = Fairness(TEAM), Fairness(TEAM)
        await winner.hold_back(ours)  # no other machine wants a turn: it continues at once
        await ours.flush()
        await lose(loser, theirs, turns.LOST)
        async with asyncio.timeout(10):
            # Arrived messages are still being handed to their listeners, and no event tells when that is done.
            while winner.is_calm():  # noqa: ASYNC110 - see above
                await asyncio.sleep(0.01)
        holding = asyncio.create_task(winner.hold_back(ours))
        await asyncio.sleep(0)
        assert not holding.done()
        await loser.hold_back(theirs)  # a machine that lost more often does not hold back
        await loser.tell(theirs, ANYONE, is_lost=False)
        async with asyncio.timeout(10):
            await holding


async def test_no_machine_holds_back_for_long_or_for_invalid_messages(tmp_path: Path) -> None:
    async with two_clients(tmp_path) as (ours, theirs):
        winner = Fairness(TEAM)
        await winner.hold_back(ours)
        await ours.flush()
        await lose(Fairness(TEAM), theirs, 9)
        for nonsense in (b"", b"\xff\xfe 3", b"somebody", b"somebody many", b"0123456789abcdef 99999999999"):
            await theirs.publish(want_subject(TEAM, ANYONE), nonsense)
        await theirs.flush()
        await ours.flush()
        async with asyncio.timeout(10):
            await winner.hold_back(ours)
