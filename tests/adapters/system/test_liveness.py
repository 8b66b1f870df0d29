"""Locks and processes, with real processes that are killed."""

import ast
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from covey.adapters.system import liveness as other_locks
from covey.adapters.system.liveness import SystemLiveness, parent_by_proc, parent_by_ps, started_by_proc, started_by_ps
from covey.core.directory.session import Holder
from tests.adapters.children import Child, child

HOLD = """
import sys
from covey.adapters.system.liveness import SystemLiveness
liveness = SystemLiveness(sys.argv[1])
print(liveness.hold().lock)
sys.stdin.readline()
liveness.close()
print("closed")
sys.stdin.readline()
"""
"""Holds a lock, releases it at the first line of input, and ends at the second."""

ASK = """
import sys
from covey.adapters.system.liveness import SystemLiveness
from covey.core.directory.session import Holder
liveness = SystemLiveness(sys.argv[1])
for line in sys.stdin:
    print(liveness.is_held(Holder(lock=line.strip())))
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path)


@pytest.fixture
def liveness(folder: str) -> Generator[SystemLiveness]:
    liveness = SystemLiveness(folder)
    yield liveness
    liveness.close()


def lock_files(folder: str) -> list[str]:
    return sorted(path.name for path in (Path(folder) / "live").iterdir())


def asked(asker: Child, holder: Holder) -> bool:
    asker.say(holder.lock or "")
    return asker.line() == "True"


def in_a_fork(check: Callable[[], bool]) -> bool:
    """Return the result of `check` in a forked child."""
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 1), "the check failed in the child"
    return code == 0


def test_another_process_is_held_until_it_is_killed(folder: str, liveness: SystemLiveness) -> None:
    with child(HOLD, folder) as other:
        holder = Holder(lock=other.line())
        assert liveness.is_held(holder)
        assert liveness.is_held(holder)
        other.kill()
        assert not liveness.is_held(holder)
        assert not liveness.is_held(holder)


def test_a_killed_process_that_was_not_reaped_holds_nothing(folder: str, liveness: SystemLiveness) -> None:
    with child(HOLD, folder) as other:
        holder = Holder(lock=other.line())
        other.kill_unreaped()
        assert not liveness.is_held(holder)


def test_a_process_that_releases_its_lock_is_not_held(folder: str, liveness: SystemLiveness) -> None:
    with child(HOLD, folder) as other:
        holder = Holder(lock=other.line())
        assert liveness.is_held(holder)
        other.say("close")
        assert other.line() == "closed"
        assert not liveness.is_held(holder)
        assert lock_files(folder) == []


def test_the_file_of_a_dead_holder_is_removed_when_it_is_noticed(folder: str, liveness: SystemLiveness) -> None:
    with child(HOLD, folder) as other:
        holder = Holder(lock=other.line())
        other.kill()
    assert lock_files(folder) == [f"{holder.lock}.lock"]
    assert not liveness.is_held(holder)
    assert lock_files(folder) == []


def test_files_of_dead_holders_that_are_never_queried_are_removed_eventually(folder: str) -> None:
    with child(HOLD, folder) as first, child(HOLD, folder) as second:
        dead = {first.line(), second.line()}
        first.kill()
        second.kill()
    for _ in range(200):  # each sweep starts at a random name; the chance to miss both files every time is negligible
        liveness = SystemLiveness(folder)
        own = liveness.hold().lock
        left = {name.removesuffix(".lock") for name in lock_files(folder)} - {own}
        liveness.close()
        if not left & dead:
            return
    pytest.fail("dead files stayed")


def test_other_processes_see_the_lock_of_this_process(folder: str, liveness: SystemLiveness) -> None:
    holder = liveness.hold()
    with child(ASK, folder) as asker:
        assert asked(asker, holder)
        assert liveness.is_held(holder)
        assert asked(asker, holder)
        liveness.close()
        assert not asked(asker, holder)
        assert not liveness.is_held(holder)


def test_all_objects_of_a_process_share_one_lock_until_the_last_is_closed(folder: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    first, second, looker = SystemLiveness(folder), SystemLiveness(str(link)), SystemLiveness(folder)
    holder = first.hold()
    assert first.hold() == holder
    assert second.hold() == holder
    assert looker.is_held(holder)
    with child(ASK, folder) as asker:
        looker.close()
        first.close()
        first.close()
        assert asked(asker, holder)
        second.close()
        assert not asked(asker, holder)
        assert not looker.is_held(holder)


def test_checking_ones_own_lock_by_another_path_does_not_release_it(
    folder: str, liveness: SystemLiveness, tmp_path: Path
) -> None:
    holder = liveness.hold()
    elsewhere = tmp_path / "elsewhere" / "live"
    elsewhere.mkdir(parents=True)
    name = f"{holder.lock}.lock"
    os.link(tmp_path / "live" / name, elsewhere / name)
    other = SystemLiveness(str(tmp_path / "elsewhere"))
    assert other.is_held(holder)
    other.close()
    with child(ASK, folder) as asker:
        assert asked(asker, holder)


def test_a_copy_of_a_space_has_no_live_sessions(tmp_path: Path) -> None:
    with child(HOLD, str(tmp_path / "original")) as other:
        holder = Holder(lock=other.line())
        shutil.copytree(tmp_path / "original", tmp_path / "copy")
        copied = SystemLiveness(str(tmp_path / "copy"))
        assert not copied.is_held(holder)
        original = SystemLiveness(str(tmp_path / "original"))
        assert original.is_held(holder)
        original.close()


def test_a_forked_child_counts_as_a_separate_process(folder: str, liveness: SystemLiveness) -> None:
    holder = liveness.hold()
    assert in_a_fork(lambda: liveness.is_held(holder))
    assert in_a_fork(lambda: liveness.hold() != holder and liveness.is_held(liveness.hold()))

    def closes() -> bool:
        liveness.close()
        return SystemLiveness(folder).is_held(holder)

    assert in_a_fork(closes)
    with child(ASK, folder) as asker:
        assert asked(asker, holder)


FORK = """
import os, sys
from covey.adapters.system.liveness import SystemLiveness
liveness = SystemLiveness(sys.argv[1])
holder = liveness.hold()
if os.fork() == 0:
    print(holder.lock, os.getpid())
    sys.stdin.readline()
    print(liveness.is_held(holder))
    sys.stdin.readline()
    os._exit(0)
os.waitid(os.P_ALL, 0, os.WEXITED)
"""


def test_a_forked_child_does_not_keep_its_dead_parent_alive(folder: str, liveness: SystemLiveness) -> None:
    with child(FORK, folder) as parent:
        lock, _ = parent.line().split()
        assert liveness.is_held(Holder(lock=lock))
        parent.kill()
        assert not liveness.is_held(Holder(lock=lock))
        parent.say("and the child?")
        assert parent.line() == "False"
        parent.say("end")


def test_many_threads_share_the_one_lock(folder: str) -> None:
    objects = [SystemLiveness(folder) for _ in range(8)]
    holders: list[Holder] = []
    start = threading.Barrier(8)

    def run(liveness: SystemLiveness) -> None:
        start.wait(20)
        holders.extend(liveness.hold() for _ in range(50))

    threads = [threading.Thread(target=run, args=(liveness,)) for liveness in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(holders) == 400
    assert len(set(holders)) == 1
    assert len(lock_files(folder)) == 1
    for liveness in objects:
        liveness.close()
    assert lock_files(folder) == []


@pytest.mark.parametrize(
    "lock",
    [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        "a" * 31,
        "A" * 32,
        "g" * 32,
        "0" * 32 + "\n",
        "0" * 32,
        "\0" * 32,
        "é" * 32,
    ],
)
def test_an_invalid_lock_name_is_not_held(liveness: SystemLiveness, lock: str) -> None:
    liveness.hold()
    assert not liveness.is_held(Holder(lock=lock))


def test_an_entry_that_is_not_a_lock_file_is_not_held(folder: str, liveness: SystemLiveness) -> None:
    liveness.hold()
    live = Path(folder) / "live"
    (live / f"{'1' * 32}.lock").symlink_to(live / f"{liveness.hold().lock}.lock")
    os.mkfifo(live / f"{'2' * 32}.lock")
    assert not liveness.is_held(Holder(lock="2" * 32))
    # The link leads to our own lock. The answer "held" is right; opening and closing the file would release the lock.
    assert liveness.is_held(Holder(lock="1" * 32))
    with child(ASK, folder) as asker:
        assert asked(asker, liveness.hold())
        assert not asked(asker, Holder(lock="1" * 32))


def test_a_holder_without_a_lock_or_a_start_time_is_not_held(liveness: SystemLiveness) -> None:
    assert not liveness.is_held(Holder())
    assert not liveness.is_held(Holder(pid=os.getpid()))


def test_there_may_be_more_holders_than_cached_descriptors(
    folder: str, liveness: SystemLiveness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_locks, "_MOST_DESCRIPTORS", 1)
    with child(HOLD, folder) as first, child(HOLD, folder) as second:
        holders = [Holder(lock=first.line()), Holder(lock=second.line())]
        for _ in range(3):
            assert [liveness.is_held(holder) for holder in holders] == [True, True]
        first.kill()
        assert [liveness.is_held(holder) for holder in holders] == [False, True]
        second.kill()
        assert [liveness.is_held(holder) for holder in holders] == [False, False]


FEW_DESCRIPTORS = """
import os, resource, sys
from covey.adapters.system.liveness import SystemLiveness
from covey.adapters.system.liveness import PresenceUnknown
from covey.core.directory.session import Holder
liveness = SystemLiveness(sys.argv[1])
first, second = (Holder(lock=name) for name in sys.argv[2:])
assert liveness.is_held(first)
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    pass
print(liveness.is_held(second))
liveness.close()
taken.append(os.dup(0))  # the last one, which the first answer had kept open
try:
    print(liveness.is_held(second))
except PresenceUnknown as error:
    print(error.code)
"""


def test_a_process_without_free_descriptors_never_reports_a_live_process_as_dead(folder: str) -> None:
    with child(HOLD, folder) as first, child(HOLD, folder) as second:
        names = (first.line(), second.line())
        with child(FEW_DESCRIPTORS, folder, *names) as poor:
            assert poor.line() == "True"
            assert poor.line() == "presence-unknown"


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    program = """
import os, sys
from covey.adapters.system.liveness import SystemLiveness
from covey.core.errors import StoreReadOnly
if os.geteuid() == 0:  # root may write anywhere
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    SystemLiveness(sys.argv[1]).hold()
except StoreReadOnly as error:
    print(error.code)
"""
    with child(program, "/usr/covey-none") as other:
        assert other.line() == "store-read-only"


def test_files_are_private(folder: str, liveness: SystemLiveness) -> None:
    name = liveness.hold().lock
    assert (Path(folder) / "live").stat().st_mode & 0o777 == 0o700
    assert (Path(folder) / "live" / f"{name}.lock").stat().st_mode & 0o777 == 0o600


def test_an_unfinished_lock_file_is_removed_when_it_is_old(folder: str) -> None:
    live = Path(folder) / "live"
    live.mkdir()
    (live / "old.new").touch()
    os.utime(live / "old.new", (1, 1))
    (live / "young.new").touch()
    liveness = SystemLiveness(folder)
    name = liveness.hold().lock
    assert lock_files(folder) == sorted([f"{name}.lock", "young.new"])
    liveness.close()


def test_a_running_process_is_held_until_it_ends(liveness: SystemLiveness) -> None:
    with child("import sys; print('up'); sys.stdin.readline()") as other:
        other.line()
        holder = liveness.process(other.pid)
        assert holder is not None
        assert holder == liveness.process(other.pid)
        assert liveness.is_held(holder)
        other.kill_unreaped()
        assert not liveness.is_held(holder), "a zombie is gone"
        assert liveness.process(other.pid) is None
        other.kill()
        assert not liveness.is_held(holder)
        assert liveness.process(other.pid) is None


def test_another_process_with_the_same_id_is_not_the_holder(liveness: SystemLiveness) -> None:
    holder = liveness.process(os.getpid())
    assert holder is not None
    assert holder.started is not None
    assert liveness.is_held(holder)
    assert not liveness.is_held(holder._replace(started=holder.started + "1"))
    boot, _, start = holder.started.partition("/")
    assert not liveness.is_held(holder._replace(started=f"{boot[::-1]}/{start}")), "the machine was started anew"


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1, 10**30])
def test_there_is_no_process_with_an_impossible_id(liveness: SystemLiveness, pid: int) -> None:
    assert liveness.process(pid) is None
    assert not liveness.is_held(Holder(pid=pid, started="x"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the name of a process in /proc")
def test_a_process_may_have_any_name(liveness: SystemLiveness) -> None:
    program = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, b") Z 1 (x", 0, 0, 0)
print("up")
sys.stdin.readline()
"""
    with child(program) as other:
        other.line()
        assert ") Z 1 (x" in Path(f"/proc/{other.pid}/comm").read_text()
        start = started_by_proc(other.pid)
        assert start is not None
        ticks = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        assert start.endswith(f"/{ticks}")
        assert liveness.is_held(Holder(pid=other.pid, started=start))


def test_ps_gives_the_same_result_without_proc() -> None:
    with child("import sys; print('up'); sys.stdin.readline()") as other:
        other.line()
        assert started_by_ps(other.pid)
        parent = parent_by_proc(other.pid)
        assert parent is not None
        assert parent_by_ps(other.pid) == (os.getpid(), parent.name, "")
        other.kill_unreaped()
        assert started_by_ps(other.pid) is None
        other.kill()
        assert started_by_ps(other.pid) is None


def test_a_process_knows_its_ancestors_even_through_a_shell(tmp_path: Path) -> None:
    tell = (
        "import os; from covey.adapters.system.liveness import SystemLiveness; "
        f"print([tuple(a.holder) + (a.name,) for a in SystemLiveness({str(tmp_path)!r}).ancestors()]); "
        "from covey.core.directory.session import client_of; "
        f"print(tuple(client_of(SystemLiveness({str(tmp_path)!r}).ancestors())))"
    )
    script = tmp_path / "wrapper"
    script.write_text(f'#!/bin/sh\n{sys.executable} -c "$1"\nexit\n')
    script.chmod(0o700)
    said = subprocess.run([script, tell], capture_output=True, text=True, timeout=20, check=True).stdout
    found, client = map(ast.literal_eval, said.splitlines())
    shell, mine, *_ = found
    assert shell[3] == "wrapper"
    assert client == mine[:3]
    here = SystemLiveness(str(tmp_path)).process(os.getpid())
    assert here is not None
    assert mine[:3] == tuple(here)


def test_a_lock_whose_file_was_removed_is_replaced_by_a_new_one_at_the_next_hold(
    folder: str, liveness: SystemLiveness
) -> None:
    lost = liveness.hold()
    shutil.rmtree(f"{folder}/live")
    held = liveness.hold()
    assert held != lost
    assert liveness.is_held(held)
    assert not liveness.is_held(lost)
