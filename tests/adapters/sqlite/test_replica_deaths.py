"""A replica whose processes die between any two steps: no commit is lost, and none counts twice."""

from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.replica import applier as replica_apply
from covey.adapters.sqlite.replica import recording as replica_recording
from covey.adapters.sqlite.replica.state import ReplicaState
from covey.ports.store import Transaction
from covey.testing import DeathMoment, Died, DyingLog, closing
from covey.testing.contracts.store import both, increment
from tests.adapters.sqlite.replicas import Machines

COMMITS = 4


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


@pytest.mark.parametrize("addition", range(1, COMMITS + 2))
@pytest.mark.parametrize("moment", [DeathMoment.BEFORE, DeathMoment.AFTER])
async def test_a_process_that_dies_while_it_appends_to_the_log_leaves_the_whole_record_or_none(
    machines: Machines, addition: int, moment: DeathMoment
) -> None:
    told: list[int] = []
    with pytest.raises(Died):
        await live(machines, DyingLog(machines.log.another(), addition, moment), told)
    # The first record is the schema.
    counted = max(0, addition - 2 + (moment is DeathMoment.AFTER))
    assert len(told) == max(0, addition - 2)
    async with closing(machines.store("b")) as other, closing(machines.store("a")) as again:
        assert await other.read(both) == (counted, counted)
        assert await again.commit(increment) == counted + 1
        assert await other.commit(increment) == counted + 2
        assert await again.read(both) == (counted + 2, counted + 2)


@pytest.mark.parametrize("step", ["position", "commit"])
async def test_a_process_that_dies_before_its_local_commit_gets_the_record_from_the_log_later(
    machines: Machines, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = machines.store("a")
    await a.commit(increment)
    with monkeypatch.context() as patch:
        if step == "position":
            patch.setattr(replica_recording, "write_state", die)
        else:
            patch.setattr(a._writer, "_commit_accepted", die)  # pyright: ignore[reportPrivateUsage] # where it dies
        with pytest.raises(Died):
            await a.commit(increment)
    abandon(a._connection)  # pyright: ignore[reportPrivateUsage] # a killed process leaves nothing under way
    await a.close()
    async with closing(machines.store("a")) as again:
        assert await again.read(both) == (2, 2)
        assert await again.commit(increment) == 3


async def test_a_process_that_dies_while_it_applies_records_leaves_each_to_be_applied_once(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with closing(machines.store("b")) as b:
        await b.read(both)
    async with closing(machines.store("a")) as a:
        for _ in range(3):
            await a.commit(increment)
    with monkeypatch.context() as patch:
        patch.setattr(replica_apply, "write_state", die)
        with pytest.raises(Died):
            machines.store("b")
    async with closing(machines.store("b")) as again:
        assert await again.read(both) == (3, 3)


async def test_two_processes_of_a_machine_share_a_replica(machines: Machines) -> None:
    async with closing(machines.store("a")) as one, closing(machines.store("a")) as other:
        assert [await store.commit(increment) for _ in range(5) for store in (one, other)] == list(range(1, 11))
        assert await one.read(both) == (10, 10)

    async def ids(transaction: Transaction) -> str | None:
        return await transaction.settings.get("left")

    async with closing(machines.store("elsewhere")) as elsewhere:
        assert await elsewhere.read(ids) == "10"


async def live(machines: Machines, log: DyingLog, told: list[int]) -> None:
    """Open a store and commit, until the log dies."""
    async with closing(machines.store("a", log)) as a:
        for _ in range(COMMITS):
            told.append(await a.commit(increment))


def die(*_given: object) -> ReplicaState:
    raise Died


def abandon(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        on_one_cursor(connection)("rollback")
