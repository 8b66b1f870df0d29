"""Waiting in line for a lock: the next one has it, and who gives up leaves nothing behind."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from covey.disk.lining_up import wait_in_line

LIMIT_S = 30.0
AT_ONCE = 0.02


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def holder(path: Path) -> Iterator[int]:
    """Hold the lock, until it is given back by hand or the test is over."""
    descriptor = open_file(path)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def open_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_free(path: Path) -> bool:
    descriptor = open_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def test_the_lock_is_had_when_it_is_given_back(path: Path, holder: int) -> None:
    opened, had = Event(), list[int | None]()

    def open_and_tell() -> int:
        opened.set()
        return open_file(path)

    waiting = Thread(target=lambda: had.append(wait_in_line(open_and_tell, LIMIT_S)))
    waiting.start()
    assert opened.wait(LIMIT_S)
    fcntl.flock(holder, fcntl.LOCK_UN)
    waiting.join(LIMIT_S)
    (descriptor,) = had
    assert descriptor is not None
    assert not is_free(path)
    os.close(descriptor)
    assert is_free(path)


def test_who_gives_up_has_nothing_and_keeps_nobody_waiting(path: Path, holder: int) -> None:
    assert wait_in_line(lambda: open_file(path), AT_ONCE) is None
    fcntl.flock(holder, fcntl.LOCK_UN)
    # The thread that waited for it gets the lock now, and gives it back: another one in line has it after that.
    descriptor = wait_in_line(lambda: open_file(path), LIMIT_S)
    assert descriptor is not None
    os.close(descriptor)
