"""Locks on files: one holder at a time, and no lock passes to a forked child."""

import ast
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import covey
from covey.disk.file_lock import FileLock
from tests.adapters.children import LIMIT_S, child

SOURCES = Path(covey.__file__).parent

HOLDERS = {
    "adapters/archive/complete_files.py": "stack.enter_context(whole_file(f'{place}/archive', replace=False))",
    "adapters/system/blobs.py": "stack.enter_context(sharing(f'{place}/blobs'))",
    "adapters/folder/mailboxes.py": "stack.enter_context(RegistryFile(place)._lock())",
    "adapters/folder/locks.py": "kept.append(take_turn(f'{place}/mirror.lock', 10))",
    "adapters/process/guard/folder.py": "kept.append(RunClaim(f'{place}/run', 'run-1'))",
    "adapters/process/sweep.py": "assert stack.enter_context(_hold(f'{place}/swept')).take_at_once()",
    "adapters/sqlite/replica/state.py": "kept.append(Pulse(f'{place}/replica')); assert kept[-1].is_own()",
    "adapters/sqlite/engine/writer_lock.py": "kept.append(WriterLock(f'{place}/covey.db')); kept[-1].enter(10)",
}
"""For each module with a lock, a statement that takes it. The statement uses imports from that module."""

LOCKING = {"disk/file_lock.py", "adapters/system/process_locks.py", "adapters/sqlite/care/restore.py"}
"""Modules that may ask the kernel for a lock. The last two take record locks, which no child inherits."""

HOLD_ALL = """
import os, sys, time
from contextlib import ExitStack
from threading import Thread
from covey.adapters.archive.complete_files import whole_file
from covey.adapters.system.blobs import sharing
from covey.adapters.folder.mailboxes import RegistryFile
from covey.adapters.folder.locks import take_turn
from covey.adapters.process.guard.folder import RunClaim
from covey.adapters.process.sweep import _hold
from covey.adapters.sqlite.replica.state import Pulse
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.system import process_locks

place = sys.argv[1]
kept = []
with ExitStack() as stack:
    %s
    process_locks.take(f"{place}/live", "user")
    print("held", flush=True)
    sys.stdin.readline()
    if (pid := os.fork()) == 0:
        time.sleep(60)
        os._exit(0)
    print(pid, flush=True)
    sys.stdin.readline()
"""


def locked_beneath(place: Path) -> set[str]:
    """Return the files beneath a folder on which the kernel has a lock, whichever process holds it."""
    inodes = {file.stat().st_ino: str(file) for file in place.rglob("*") if file.is_file()}
    lines = Path("/proc/locks").read_text("ascii").splitlines()
    return {inodes[inode] for line in lines if (inode := int(line.split()[-3].rsplit(":", 1)[1])) in inodes}


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[FileLock]:
    lock = FileLock(str(tmp_path / "lock"))
    yield lock
    lock.close()


def test_one_holder_at_a_time(lock: FileLock, tmp_path: Path) -> None:
    other = FileLock(str(tmp_path / "lock"))
    assert lock.take_at_once()
    assert not other.take_at_once()
    lock.give_back()
    assert other.take_at_once()
    other.close()
    other.close()
    assert lock.take_at_once()


def test_shared_holders_keep_out_only_an_exclusive_one(lock: FileLock, tmp_path: Path) -> None:
    other = FileLock(str(tmp_path / "lock"))
    lock.take(shared=True)
    other.take(shared=True)
    assert not other.take_at_once()
    lock.close()
    assert other.take_at_once()
    other.close()


def test_a_forked_child_can_neither_use_nor_drop_its_parents_lock(lock: FileLock, tmp_path: Path) -> None:
    assert lock.take_at_once()
    if (pid := os.fork()) == 0:
        try:
            lock.close()
            lock.give_back()
        except ValueError:
            os._exit(7)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    other = FileLock(str(tmp_path / "lock"))
    assert not other.take_at_once()
    other.close()


@pytest.mark.requirement("trust.fork")
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the kernel does not list its locks here")
def test_no_lock_of_a_killed_process_stays_with_its_forked_child(tmp_path: Path) -> None:
    with child(HOLD_ALL % "\n    ".join(HOLDERS.values()), str(tmp_path)) as parent:
        assert parent.line() == "held"
        # One lock for each holder, and the record lock.
        assert len(locked_beneath(tmp_path)) == len(HOLDERS) + 1
        parent.say("fork")
        forked = int(parent.line())
        try:
            parent.kill()
            os.kill(forked, 0)  # it is alive
            until = time.monotonic() + LIMIT_S  # the child closes its copies as soon as it runs
            while locked_beneath(tmp_path) and time.monotonic() < until:
                time.sleep(0.01)
            assert locked_beneath(tmp_path) == set()
        finally:
            os.kill(forked, signal.SIGKILL)


def test_the_list_above_has_every_lock() -> None:
    """A module that takes a lock in another way, or that is missing in the list, fails here."""
    users, callers = set[str](), set[str]()
    for file in SOURCES.rglob("*.py"):
        module = str(file.relative_to(SOURCES))
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "FileLock":
                users.add(module)
            if isinstance(node, ast.Attribute) and node.attr in ("flock", "lockf", "F_OFD_SETLK", "F_SETLK"):
                callers.add(module)
    assert users == set(HOLDERS)
    assert callers <= LOCKING
