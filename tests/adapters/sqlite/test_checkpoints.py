"""The log is checkpointed while processes write, and its size is bounded."""

import threading
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.wal import MAX_PAGES, PAGES
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.ports.store import Transaction

PAGE_BYTES = 4096


async def fill(store: GroupCommit, pages: int) -> None:
    """Write `pages` pages into the log, a hundred with each commit."""
    for n in range(pages // 100):

        async def operation(tx: Transaction, n: int = n) -> None:
            await tx.settings.put("filler", chr(97 + n % 26) * (100 * PAGE_BYTES))  # SQLite skips unchanged pages

        await store.commit(operation)


def log_pages(path: Path) -> int:
    """Return the largest length that the log has had: SQLite does not truncate the log when it restarts it."""
    return path.with_name(f"{path.name}-wal").stat().st_size // PAGE_BYTES


def checkpointing() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.endswith("checkpoints")]


async def test_the_log_restarts_even_while_writers_continue(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store = GroupCommit(path)
    await fill(store, 4 * MAX_PAGES)
    assert log_pages(path) < MAX_PAGES + 2 * PAGES
    await store.close()
    assert not checkpointing()


async def test_a_short_log_needs_no_thread(tmp_path: Path) -> None:
    store = GroupCommit(tmp_path / "covey.db")
    await fill(store, PAGES // 2)
    assert not checkpointing()
    await store.close()


async def test_a_long_read_holds_the_log_and_blocks_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store = GroupCommit(path)
    await fill(store, 100)
    reader = apsw.Connection(str(path))
    view = on_one_cursor(reader)
    view("begin; select count(*) from settings")
    await fill(store, 2 * MAX_PAGES)
    assert log_pages(path) > MAX_PAGES
    view("commit")
    reader.close()
    longest = log_pages(path)
    await fill(store, 2 * MAX_PAGES)
    assert log_pages(path) <= longest + 2 * PAGES
    await store.close()


async def test_a_failed_checkpoint_does_not_affect_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> apsw.Connection:
        raise apsw.CantOpenError

    store = GroupCommit(tmp_path / "covey.db")
    monkeypatch.setattr(store._checkpoints, "_connect", fail)  # pyright: ignore[reportPrivateUsage]  # no way to break it from outside
    await fill(store, 2 * MAX_PAGES)
    assert log_pages(tmp_path / "covey.db") < MAX_PAGES + 2 * PAGES
    await store.close()
