"""The log is written back while others write, and does not grow without end."""

import threading
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.checkpoints import MAX_PAGES, PAGES
from covey.adapters.sqlite.transactions.group import GroupCommit
from covey.ports.store import Transaction

PAGE_BYTES = 4096


async def fill(store: GroupCommit, pages: int) -> None:
    """Write so many pages into the log, a hundred with each commit."""
    for n in range(pages // 100):

        async def operation(tx: Transaction, n: int = n) -> None:
            await tx.settings.put("filler", chr(97 + n % 26) * (100 * PAGE_BYTES))  # SQLite skips what stays the same

        await store.commit(operation)


def log_pages(path: Path) -> int:
    """How long the log ever was: SQLite does not cut it when it begins anew."""
    return path.with_name(f"{path.name}-wal").stat().st_size // PAGE_BYTES


def checkpointing() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.endswith("checkpoints")]


async def test_a_log_begins_anew_however_long_writers_go_on(tmp_path: Path) -> None:
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


async def test_who_reads_for_long_holds_the_log_and_nobody_else(tmp_path: Path) -> None:
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


async def test_what_is_wrong_with_a_checkpoint_is_nothing_to_who_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> apsw.Connection:
        raise apsw.CantOpenError

    store = GroupCommit(tmp_path / "covey.db")
    monkeypatch.setattr(store._checkpoints, "_connect", fail)  # pyright: ignore[reportPrivateUsage]  # no way to break it from outside
    await fill(store, 2 * MAX_PAGES)
    assert log_pages(tmp_path / "covey.db") < MAX_PAGES + 2 * PAGES
    await store.close()
