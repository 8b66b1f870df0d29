"""The turnstile among processes: it is fair, and every wait has a limit."""

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.errors import StoreBusy
from tests.adapters.children import child
from tests.adapters.sqlite.stories import LIMIT_S, make_store, names, names_in, register

HOLD = """
import sys
from covey.adapters.sqlite.engine.writer_lock import WriterLock
WriterLock(sys.argv[1]).enter(10)
print("held")
sys.stdin.readline()
"""

WRITE = """
import sys
from covey.core.coroutine import finish
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.ports.store import Transaction

async def note(transaction):
    await transaction.settings.put(sys.argv[2], "x" * 500)

store = SqliteStore(sys.argv[1])
print("ready")
sys.stdin.readline()
for _ in range(200):
    finish(store.commit(note))
print("written")
while True:
    finish(store.commit(note))
"""


def test_a_store_that_another_process_holds_is_busy_after_the_limit_and_nothing_is_done(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    store = SqliteStore(path, limit_s=0.2)
    with child(HOLD, str(path)) as holder:
        assert holder.line() == "held"
        began = time.monotonic()
        with pytest.raises(StoreBusy) as caught:
            finish(store.commit(register("late")))
        assert 0.2 <= time.monotonic() - began < LIMIT_S
        assert caught.value.details["path"] == str(path)
        assert finish(store.read(names)) == ["bob"]
    finish(store.commit(register("alice")))
    assert finish(store.read(names)) == ["alice", "bob"]
    finish(store.close())


def test_a_process_that_dies_with_the_lock_releases_it(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    with child(HOLD, str(path)) as holder:
        assert holder.line() == "held"
        holder.kill()
        turnstile = WriterLock(str(path))
        turnstile.enter(LIMIT_S)
        turnstile.close()


def test_a_waiting_process_enters_when_the_lock_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "covey.db")
    first, second = WriterLock(path), WriterLock(path)
    for _ in range(20):
        first.enter(LIMIT_S)
        with pytest.raises(StoreBusy):
            second.enter(0.001)
        first.leave()
        second.enter(LIMIT_S)
        second.leave()
    first.close()
    second.close()


def test_a_waiter_that_gave_up_does_not_take_the_lock_later(tmp_path: Path) -> None:
    path = str(tmp_path / "covey.db")
    first, second, third = WriterLock(path), WriterLock(path), WriterLock(path)
    first.enter(LIMIT_S)
    with pytest.raises(StoreBusy):
        second.enter(0.001)
    first.leave()
    third.enter(LIMIT_S)
    third.leave()
    for turnstile in (first, second, third):
        turnstile.close()


def test_no_process_starves_while_others_write_without_pause(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    with ExitStack() as stack:
        writers = [stack.enter_context(child(WRITE, str(path), f"writer-{n}")) for n in range(3)]
        for writer in writers:
            assert writer.line() == "ready"
        for writer in writers:
            writer.say("go")
        # The others continue while one still writes. Without the turnstile, a process would get one turn in thousands
        # and would not finish within the limit. The scheduler decides how equal the shares are.
        assert [writer.line() for writer in writers] == ["written"] * len(writers)


def test_a_store_cannot_be_used_after_a_fork(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    store = SqliteStore(path)
    if (pid := os.fork()) == 0:
        try:
            finish(store.commit(register("child")))
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    finish(store.close())
    assert names_in(path) == ["bob"]
