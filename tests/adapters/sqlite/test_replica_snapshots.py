"""Snapshots of replicas: a new machine starts from a snapshot, and records that are no longer needed are purged."""

import asyncio
import time
from pathlib import Path

import pytest

from covey.adapters.sqlite.replica.snapshots import keep
from covey.core.errors import LogDiverged
from covey.testing import closing
from covey.testing.contracts.store import both, increment
from covey.testing.contracts.tables import read_everything, write_everything
from tests.adapters.sqlite.replicas import Machines

LIMIT_S = 20.0


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


async def test_a_new_machine_starts_from_a_snapshot(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        await a.commit(write_everything)
        for _ in range(3):
            for _ in range(5):
                await a.commit(increment)
            keep(machines.path("a"), machines.log)
        await a.commit(increment)
        before = await a.read(read_everything)
    assert machines.log.state().first > 1
    async with closing(machines.store("late")) as late:
        assert await late.read(both) == (16, 16)
        assert await late.read(read_everything) == before
        assert await late.commit(increment) == 17
    async with closing(machines.store("a")) as a:
        assert await a.read(both) == (17, 17)


async def test_a_machine_that_fell_too_far_behind_restarts_from_a_snapshot_while_it_is_open(machines: Machines) -> None:
    async with closing(machines.store("a")) as a, closing(machines.store("b")) as b:
        assert await b.commit(increment) == 1
        for _ in range(3):
            for _ in range(3):
                await a.commit(increment)
            keep(machines.path("a"), machines.log)
        assert await b.read(both) == (10, 10)
        assert await b.commit(increment) == 11
        assert await a.commit(increment) == 12
    assert not [name for name in Path(machines.path("b")).parent.iterdir() if "snapshot" in name.name]


async def test_purged_records_without_a_snapshot_are_reported(machines: Machines) -> None:
    async with closing(machines.store("a")) as a:
        for _ in range(3):
            await a.commit(increment)
            keep(machines.path("a"), machines.log)
        machines.log.forget_snapshots()
    with pytest.raises(LogDiverged, match="nor a snapshot"):
        machines.store("late")


async def test_a_process_that_follows_the_log_keeps_a_snapshot_from_time_to_time(machines: Machines) -> None:
    async with closing(machines.staying("a", snapshot_every=10)) as a:
        for _ in range(40):
            await a.commit(increment)
        end = time.monotonic() + LIMIT_S
        while machines.log.newest() is None:
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
    newest = machines.log.newest()
    assert newest is not None
    assert newest.position >= 10
