"""The wait for the disk: after the writer lock is released, before the caller gets its result."""

import asyncio
import os
from collections.abc import Collection
from pathlib import Path

import pytest

from covey.adapters.sqlite.engine import wal as log_sync
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.core.names import Topic
from covey.ports.store import Transaction
from covey.testing import closing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "covey.db"


async def operation(transaction: Transaction) -> str:
    await transaction.settings.put("name", "value")
    transaction.ring(Topic("topic"))
    return "done"


async def test_the_log_is_synced_after_the_turn_and_before_the_ring(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync = os.fdatasync

    def watched(descriptor: int) -> None:
        is_log = os.path.samestat(os.fstat(descriptor), (path.parent / "covey.db-wal").stat())
        other = WriterLock(str(path))
        happened.append(f"sync log={is_log} turn free={other.enter_at_once()}")
        other.close()
        sync(descriptor)

    def ring(_topics: Collection[Topic]) -> None:
        happened.append("ring")

    async with closing(GroupCommit(path, ring=ring)) as store:
        monkeypatch.setattr(log_sync.os, "fdatasync", watched)
        assert await store.commit(operation) == "done"
    assert happened == ["sync log=True turn free=True", "ring"]


async def test_without_full_sync_commits_do_not_wait_for_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_descriptor: int) -> None:
        raise AssertionError

    async with closing(GroupCommit(path, synchronous="normal")) as store:
        monkeypatch.setattr(log_sync.os, "fdatasync", never)
        assert await store.commit(operation) == "done"


async def test_a_light_commit_does_not_wait_for_the_disk_unless_it_shares_a_batch(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs: list[int] = []
    async with closing(GroupCommit(path)) as store:
        monkeypatch.setattr(log_sync.os, "fdatasync", syncs.append)
        assert await store.commit(operation, is_light=True) == "done"
        assert len(syncs) == 0
        await asyncio.gather(store.commit(operation), store.commit(operation, is_light=True))
        assert len(syncs) == 1
