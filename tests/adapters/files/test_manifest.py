"""The manifest: added to, whole line by whole line, with foreign lines kept and killed writers understood."""

import json
import os
import time
from pathlib import Path

import pytest

from covey.adapters.folder import lockfile
from covey.adapters.folder.freshness import RACY_NS
from covey.adapters.folder.lockfile import STALE_S
from covey.adapters.folder.manifest import torn_lines
from covey.adapters.folder.notebook.database import NOTEBOOK, throw_away
from covey.core.errors import Unavailable
from tests.adapters.children import child
from tests.adapters.files.desk import Desk

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


def test_lines_are_added_in_their_order(dialogue: Desk) -> None:
    assert append(dialogue, line(1), line(2))
    assert append(dialogue, line(3))
    assert manifest(dialogue).read_text() == "".join(f"{text}\n" for text in texts(line(1), line(2), line(3)))
    assert position(dialogue) == 3
    assert not lock(dialogue).exists()


def test_lines_that_are_there_already_are_not_added_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    before = manifest(dialogue).read_bytes()
    dialogue.close()
    throw_away(str(dialogue.root / ".covey" / NOTEBOOK))
    dialogue.reopen()
    assert position(dialogue) == 0
    assert append(dialogue, line(1))
    assert manifest(dialogue).read_bytes() == before
    assert position(dialogue) == 1


def test_a_whole_manifest_is_gone_through_again_in_batches(dialogue: Desk) -> None:
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
def test_a_torn_line_of_others_is_ended_and_everything_else_can_be_read(dialogue: Desk) -> None:
    manifest(dialogue).write_text(f"{THEIRS}\n{THEIRS[:20]}")
    append(dialogue, line(1))
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines() == [THEIRS, THEIRS[:20], *texts(line(1), line(2))]
    assert torn_lines(str(manifest(dialogue))) == 1


def test_a_whole_last_line_without_its_end_is_ended(dialogue: Desk) -> None:
    manifest(dialogue).write_text(THEIRS)
    append(dialogue, line(1))
    assert manifest(dialogue).read_text().splitlines() == [THEIRS, *texts(line(1))]
    assert torn_lines(str(manifest(dialogue))) == 0


def test_a_line_of_ours_that_others_wrote_into_comes_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    with manifest(dialogue).open("a") as file:
        file.write(f"{line(2)[1][:30]}{THEIRS}\n")
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines()[-1] == line(2)[1]


def test_a_manifest_that_lost_its_end_gets_it_again(dialogue: Desk) -> None:
    append(dialogue, line(1), line(2), line(3))
    with manifest(dialogue).open("r+b") as file:
        file.truncate(len(line(1)[1]) + 10)
    assert position(dialogue) == 0
    append(dialogue, line(1), line(2), line(3))
    assert manifest(dialogue).read_text().splitlines() == texts(line(1), line(2), line(3))


def test_a_manifest_that_is_gone_is_made_again(dialogue: Desk) -> None:
    append(dialogue, line(1))
    manifest(dialogue).unlink()
    assert position(dialogue) == 0
    append(dialogue, line(1))
    assert manifest(dialogue).read_text().splitlines() == texts(line(1))


def test_a_link_in_the_place_of_the_manifest_is_not_followed(dialogue: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    manifest(dialogue).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        append(dialogue, line(1))
    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_very_long_foreign_line_is_no_trouble(dialogue: Desk) -> None:
    manifest(dialogue).write_bytes(b"x" * 3_000_000 + b"\n" + b"y" * 2_000_000)
    append(dialogue, line(1))
    append(dialogue, line(2))
    assert manifest(dialogue).read_text().splitlines()[2:] == texts(line(1), line(2))


# The lock file beside it.


def test_a_lock_that_a_living_program_holds_is_waited_for(dialogue: Desk) -> None:
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


def test_a_lock_that_is_held_for_too_long_makes_us_give_up_and_write_nothing(
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
def test_a_lock_that_is_too_old_is_broken_whoever_holds_it(
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


def test_a_lock_with_our_own_process_id_is_a_dead_ones(dialogue: Desk) -> None:
    lock(dialogue).write_text(str(os.getpid()))
    assert append(dialogue, line(1))


def test_a_lock_that_somebody_else_has_meanwhile_is_not_taken_away(dialogue: Desk) -> None:
    with lockfile.LockFile(str(lock(dialogue)), str(dialogue.root / ".covey" / "own")).held() as is_ours:
        assert is_ours
        lock(dialogue).unlink()
        lock(dialogue).write_text("1")
    assert lock(dialogue).read_text() == "1"


def test_a_lock_is_as_young_as_it_looks_however_often_it_was_taken(dialogue: Desk) -> None:
    """Others break one that is old, by the time of its last change."""
    one = lockfile.LockFile(str(lock(dialogue)), str(dialogue.root / ".covey" / "own"))
    marks: set[tuple[int, int]] = set()
    for _ in range(3):
        before = time.time_ns() - RACY_NS  # kernels count in steps
        with one.held() as is_ours:
            assert is_ours
            status = lock(dialogue).stat()
            assert status.st_mtime_ns >= before
            assert lock(dialogue).read_text().strip() == str(os.getpid())
            marks.add((status.st_ino, status.st_mtime_ns))
        assert not lock(dialogue).exists()
    assert len(marks) == 3


def test_what_another_process_of_ours_left_is_never_taken_for_our_own_lock(dialogue: Desk) -> None:
    own = dialogue.root / ".covey" / "own"
    one = lockfile.LockFile(str(lock(dialogue)), str(own))
    with one.held():
        pass
    own.unlink()
    own.write_text("1")
    with one.held() as is_ours:
        assert (is_ours, lock(dialogue).read_text().strip()) == (True, str(os.getpid()))


def test_two_programs_with_the_lock_file_lose_nothing(dialogue: Desk) -> None:
    """The other one is written from the seed: it makes the lock file exclusively, and breaks none."""
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
