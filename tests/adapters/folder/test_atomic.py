"""Atomic writes: a file is written completely or not at all, and the leftovers of killed writers are removed."""

import os
import time
from pathlib import Path

import pytest

from covey.adapters.folder import atomic
from tests.adapters.children import child

KILLED_BEFORE_THE_NAME = """
import os, signal, sys
from covey.adapters.folder import atomic
os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
atomic.write(sys.argv[1], b"whole")
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    atomic.write(str(path), b"first")
    atomic.write(str(path), b"second")
    assert path.read_bytes() == b"second"
    assert names(tmp_path) == ["one.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_files_in_several_folders_are_written_in_one_call(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    files = [(f"{tmp_path}/{'ab'[n % 2]}/{n}.json", str(n).encode()) for n in range(200)]
    atomic.write_all(files)
    assert {str(path): path.read_bytes() for path in tmp_path.glob("*/*")} == dict(files)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(OSError):
        atomic.write_all([(f"{tmp_path}/there/1.json", b"1"), (f"{tmp_path}/missing/2.json", b"2")])
    assert names(tmp_path / "there") == []


def test_a_folder_with_the_same_name_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "one.json").mkdir()
    with pytest.raises(OSError):
        atomic.write(f"{tmp_path}/one.json", b"1")
    assert names(tmp_path) == ["one.json"]


def test_the_leftover_of_a_killed_writer_is_no_message_and_is_removed_later(tmp_path: Path) -> None:
    with child(KILLED_BEFORE_THE_NAME, f"{tmp_path}/one.json") as writer:
        assert writer.end() == -9
    (leftover,) = names(tmp_path)
    assert atomic.is_temporary(leftover)
    assert leftover.startswith(".")
    assert not leftover.endswith(".json")
    (tmp_path / ".mine.tmp").touch()
    assert atomic.remove_leftovers(str(tmp_path)) == 0
    long_ago = time.time() - 2 * atomic.LEFTOVER_AGE_S
    for path in tmp_path.iterdir():
        os.utime(path, (long_ago, long_ago))
    assert atomic.remove_leftovers(str(tmp_path)) == 1
    assert names(tmp_path) == [".mine.tmp"]


def test_a_writer_whose_temporary_file_was_swept_retries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def swept(source: str, target: str) -> None:
        monkeypatch.setattr(os, "rename", rename)
        Path(source).unlink()
        rename(source, target)

    monkeypatch.setattr(os, "rename", swept)
    atomic.write(f"{tmp_path}/one.json", b"whole")
    assert (tmp_path / "one.json").read_bytes() == b"whole"
    assert names(tmp_path) == ["one.json"]


def test_moves_and_new_folders(tmp_path: Path) -> None:
    folder = atomic.make_folders(str(tmp_path), "archive", "by-task")
    assert atomic.make_folders(str(tmp_path), "archive", "by-task") == folder
    atomic.write(f"{tmp_path}/1", b"1")
    atomic.write(f"{tmp_path}/2", b"2")
    atomic.move_all([(f"{tmp_path}/1", f"{folder}/1"), (f"{tmp_path}/2", f"{folder}/2")])
    assert names(Path(folder)) == ["1", "2"]
    with pytest.raises(FileNotFoundError):
        atomic.move_all([(f"{tmp_path}/1", f"{folder}/1")])
