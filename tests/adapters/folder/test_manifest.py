"""The manifest: only whole lines are appended, foreign lines are kept, and torn lines of killed writers are handled."""

import json
import os
import time
from pathlib import Path

import pytest

from covey.adapters.folder import locks as lockfile
from covey.adapters.folder.entries import RACY_NS
from covey.adapters.folder.locks import STALE_S
from covey.adapters.folder.manifest import torn_lines
from covey.adapters.folder.notebook.database import NOTEBOOK, throw_away
from covey.core.errors import Unavailable
from tests.adapters.children import child
from tests.adapters.folder.desk import Desk

THEIRS = '{"id": "17-theirs", "event": "sent"}'


def line(position: int, copy: int = 1) -> tuple[int, str]:
    return position, json.dumps({"event": "sent", "id": f"message-{position}-{copy}", "position": position})


def manifest(desk: Desk) -> Path:
    return desk.root / "manifest.jsonl"


def lock(desk: Desk) -> Path:
    return desk.root / "manifest.jsonl.lock"


def append(desk: Desk, *lines: tuple[int, str]) -> bool:
    return desk.during(lambda visit: visit.append(lines, lines[-1][0]))


def texts(*lines: tuple[int, str]) -> list[str]:
    return [text for _, text in lines]


def position(desk: Desk) -> int:
    async def read(visit: object) -> int:
        return getattr(visit, "manifest_position", -1)

    return desk.during(read)


def test_lines_are_appended_in_order(dialogue: Desk) -> None:
    assert append(dialogue, line(1), line(2))
    assert append(dialogue, line(3))
    assert manifest(dialogue).read_text() == "".join(f"{text}\n" for text in texts(line(1), line(2), line(3)))
    assert position(dialogue) == 3
    assert not lock(dialogue).exists()


def test_lines_that_exist_already_are_not_appended_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    before = manifest(dialogue).read_bytes()
    dialogue.close()
    throw_away(str(dialogue.root / ".covey" / NOTEBOOK))
    dialogue.reopen()
    assert position(dialogue) == 0
    assert append(dialogue, line(1))
    assert manifest(dialogue).read_bytes() == before
    assert position(dialogue) == 1


def test_a_whole_manifest_is_checked_again_in_batches(dialogue: Desk) -> None:
    for n in range(1, 20):
        append(dialogue, line(n, 1), line(n, 2))
    before = manifest(dialogue).read_bytes()
    dialogue.close()
    throw_away(str(dialogue.root / ".covey" / NOTEBOOK))
    dialogue.reopen()
    for n in range(1, 20, 2):
        append(dialogue, line(n, 1), line(n, 2), line(n + 1, 1), line(n + 1, 2))
    assert manifest(dialogue).read_bytes().startswith(before)
    lines = manifest(dialogue).read_text().splitlines()
    assert sorted(lines) == sorted({text for n in range(1, 21) for text in texts(line(n, 1), line(n, 2))})


def test_foreign_lines_are_kept(dialogue: Desk) -> None:
    append(dialogue, line(1))
    with manifest(dialogue).open("a") as file:
        file.write(f"{THEIRS}\n")
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines() == [*texts(line(1)), THEIRS, *texts(line(2))]


@pytest.mark.requirement("dialogue.manifest")
@pytest.mark.parametrize("cut", [1, 5, 40, 59])
def test_a_torn_line_of_ours_is_completed(dialogue: Desk, cut: int) -> None:
    append(dialogue, line(1))
    with manifest(dialogue).open("a") as file:
        file.write(f"{line(2, 1)[1]}\n{line(2, 2)[1][:cut]}")
    assert append(dialogue, line(2, 1), line(2, 2), line(3))
    assert manifest(dialogue).read_text().splitlines() == texts(line(1), line(2, 1), line(2, 2), line(3))


@pytest.mark.requirement("dialogue.manifest")
def test_a_torn_foreign_line_is_ended_and_all_other_lines_can_be_read(dialogue: Desk) -> None:
    manifest(dialogue).write_text(f"{THEIRS}\n{THEIRS[:20]}")
    append(dialogue, line(1))
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines() == [THEIRS, THEIRS[:20], *texts(line(1), line(2))]
    assert torn_lines(str(manifest(dialogue))) == 1


def test_a_complete_last_line_without_a_newline_is_ended(dialogue: Desk) -> None:
    manifest(dialogue).write_text(THEIRS)
    append(dialogue, line(1))
    assert manifest(dialogue).read_text().splitlines() == [THEIRS, *texts(line(1))]
    assert torn_lines(str(manifest(dialogue))) == 0


def test_a_line_of_ours_with_foreign_text_inside_is_appended_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    with manifest(dialogue).open("a") as file:
        file.write(f"{line(2)[1][:30]}{THEIRS}\n")
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines()[-1] == line(2)[1]


def test_a_manifest_that_lost_its_last_lines_gets_them_again(dialogue: Desk) -> None:
    append(dialogue, line(1), line(2), line(3))
    with manifest(dialogue).open("r+b") as file:
        file.truncate(len(line(1)[1]) + 10)
    assert position(dialogue) == 0
    append(dialogue, line(1), line(2), line(3))
    assert manifest(dialogue).read_text().splitlines() == texts(line(1), line(2), line(3))


def test_a_missing_manifest_is_created_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    manifest(dialogue).unlink()
    assert position(dialogue) == 0
    append(dialogue, line(1))
    assert manifest(dialogue).read_text().splitlines() == texts(line(1))


def test_a_link_in_place_of_the_manifest_is_not_followed(dialogue: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    manifest(dialogue).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        append(dialogue, line(1))
    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_very_long_foreign_line_is_handled(dialogue: Desk) -> None:
    manifest(dialogue).write_bytes(b"x" * 3_000_000 + b"\n" + b"y" * 2_000_000)
    append(dialogue, line(1))
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines()[2:] == texts(line(1), line(2))


# The lock file of the manifest.


def test_a_lock_held_by_a_live_process_is_waited_for(dialogue: Desk) -> None:
    holding = """
import sys, os, time
descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.write(descriptor, str(os.getpid()).encode())
print("held")
time.sleep(0.1)
with open(sys.argv[1].removesuffix(".lock"), "a") as file:
    file.write(sys.argv[2] + "\\n")
os.unlink(sys.argv[1])
"""
    with child(holding, str(lock(dialogue)), THEIRS) as holder:
        assert holder.line() == "held"
        assert append(dialogue, line(1))
    assert manifest(dialogue).read_text().splitlines() == [THEIRS, *texts(line(1))]


def test_a_lock_that_is_held_for_too_long_makes_the_append_fail_and_nothing_is_written(
    dialogue: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockfile, "PATIENCE_S", 0.05)
    with child("import sys; sys.stdin.read()") as holder:
        lock(dialogue).write_text(f"{holder.pid}\n")
        assert not append(dialogue, line(1))
        assert not manifest(dialogue).exists()
        assert position(dialogue) == 0
        assert lock(dialogue).read_text() == f"{holder.pid}\n"
        holder.kill()
        assert append(dialogue, line(1))
    assert not lock(dialogue).exists()


@pytest.mark.parametrize("text", ["", "nobody", "1", "{}"])
def test_a_lock_that_is_too_old_is_broken_regardless_of_its_holder(
    dialogue: Desk, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    lock(dialogue).write_text(text)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + STALE_S + 1)
    assert append(dialogue, line(1))
    assert not lock(dialogue).exists()


@pytest.mark.parametrize("form", ["{}", "{}\n", '{{"pid": {}}}', "pid={}"])
def test_a_lock_of_a_dead_process_is_broken_at_once(dialogue: Desk, form: str) -> None:
    with child("print('here')") as one:
        one.line()
        one.kill()
    lock(dialogue).write_text(form.format(one.pid))
    assert append(dialogue, line(1))
    assert not lock(dialogue).exists()


def test_a_lock_with_our_own_process_id_counts_as_a_dead_process(dialogue: Desk) -> None:
    lock(dialogue).write_text(str(os.getpid()))
    assert append(dialogue, line(1))


def test_a_lock_that_another_process_has_taken_meanwhile_is_not_removed(dialogue: Desk) -> None:
    with lockfile.LockFile(str(lock(dialogue)), str(dialogue.root / ".covey" / "own")).held() as is_ours:
        assert is_ours
        lock(dialogue).unlink()
        lock(dialogue).write_text("1")
    assert lock(dialogue).read_text() == "1"


def test_a_lock_has_a_fresh_time_each_time_it_is_taken(dialogue: Desk) -> None:
    """Other programs break an old lock, by the time of its last change."""
    one = lockfile.LockFile(str(lock(dialogue)), str(dialogue.root / ".covey" / "own"))
    marks: set[tuple[int, int]] = set()
    for _ in range(3):
        before = time.time_ns() - RACY_NS  # file times advance in steps of the kernel's clock
        with one.held() as is_ours:
            assert is_ours
            status = lock(dialogue).stat()
            assert status.st_mtime_ns >= before
            assert lock(dialogue).read_text().strip() == str(os.getpid())
            marks.add((status.st_ino, status.st_mtime_ns))
        assert not lock(dialogue).exists()
    assert len(marks) == 3


def test_a_leftover_of_another_process_is_never_taken_for_our_own_lock(dialogue: Desk) -> None:
    own = dialogue.root / ".covey" / "own"
    one = lockfile.LockFile(str(lock(dialogue)), str(own))
    with one.held():
        pass
    own.unlink()
    own.write_text("1")
    with one.held() as is_ours:
        assert (is_ours, lock(dialogue).read_text().strip()) == (True, str(os.getpid()))


def test_two_programs_with_the_lock_file_lose_nothing(dialogue: Desk) -> None:
    """The other program follows the seed: it creates the lock file exclusively and breaks no lock."""
    other = """
import os, sys, time
path = sys.argv[1]
for n in range(200):
    while True:
        try:
            descriptor = os.open(path + ".lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            time.sleep(0.0005)
    os.write(descriptor, str(os.getpid()).encode())
    os.close(descriptor)
    with open(path, "a") as file:
        file.write('{"theirs": %d, ' % n)
        file.flush()
        file.write('"end": true}\\n')
    os.unlink(path + ".lock")
    if n == 0:
        print("begun")
print("done")
"""
    with child(other, str(manifest(dialogue))) as writer:
        assert writer.line() == "begun"
        done = 0
        for n in range(1, 101):
            done += append(dialogue, line(n))
        assert writer.line() == "done"
    lines = [json.loads(text) for text in manifest(dialogue).read_text().splitlines()]
    assert done == 100
    assert [one["position"] for one in lines if "position" in one] == list(range(1, 101))
    assert [one["theirs"] for one in lines if "theirs" in one] == list(range(200))
