"""Waiting in line for a lock: the next waiter gets it, and one that gives up leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from covey.disk.file_lock import FileLock
from covey.disk.lock_wait import wait_in_line

LIMIT_S = 30.0
AT_ONCE = 0.02


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def holder(path: Path) -> Iterator[FileLock]:
    """Hold the lock until it is given back by hand or the test ends."""
    lock = FileLock(str(path))
    lock.take()
    yield lock
    lock.close()


def is_free(path: Path) -> bool:
    lock = FileLock(str(path))
    try:
        return lock.take_at_once()
    finally:
        lock.close()


def test_a_waiter_gets_the_lock_when_it_is_given_back(path: Path, holder: FileLock) -> None:
    opened, had = Event(), list[FileLock | None]()

    def open_and_tell() -> FileLock:
        opened.set()
        return FileLock(str(path))

    waiting = Thread(target=lambda: had.append(wait_in_line(open_and_tell, LIMIT_S)))
    waiting.start()
    assert opened.wait(LIMIT_S)
    holder.give_back()
    waiting.join(LIMIT_S)
    (lock,) = had
    assert lock is not None
    assert not is_free(path)
    lock.close()
    assert is_free(path)


def test_a_waiter_that_gives_up_has_no_lock_and_blocks_no_other(path: Path, holder: FileLock) -> None:
    assert wait_in_line(lambda: FileLock(str(path)), AT_ONCE) is None
    holder.give_back()
    # The thread of the first wait gets the lock now and gives it back. Then the next waiter has it.
    lock = wait_in_line(lambda: FileLock(str(path)), LIMIT_S)
    assert lock is not None
    lock.close()
