"""fsync: the calls to the kernel."""

import fcntl
import os
import stat
from functools import partial
from pathlib import Path

import pytest

from covey.disk import files as syncing

FULL_SYNC = 51


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the calls from now on: the kind of sync, and the kind of file."""
    found: list[tuple[str, str]] = []

    def note(how: str, descriptor: int) -> None:
        found.append((how, "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"))

    def note_control(descriptor: int, how: int) -> None:
        note(f"fcntl {how}", descriptor)

    monkeypatch.setattr(os, "fsync", partial(note, "fsync"))
    monkeypatch.setattr(os, "fdatasync", partial(note, "fdatasync"), raising=False)
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", FULL_SYNC, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", note_control)
    return found


def sync_all(folder: Path) -> None:
    with (folder / "file").open("wb") as file:
        syncing.sync(file.fileno())
        syncing.sync_data(file.fileno())
    syncing.sync_folder(str(folder))


def test_files_and_folders_are_synced(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as linux:
        linux.setattr(syncing.sys, "platform", "linux")
        sync_all(tmp_path)
    assert asked == [("fsync", "file"), ("fdatasync", "file"), ("fsync", "folder")]


def test_on_a_mac_the_cache_of_the_drive_is_flushed(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as mac:
        mac.setattr(syncing.sys, "platform", "darwin")
        sync_all(tmp_path)
    assert asked == [(f"fcntl {FULL_SYNC}", "file"), (f"fcntl {FULL_SYNC}", "file"), (f"fcntl {FULL_SYNC}", "folder")]


def test_a_drive_without_full_sync_is_synced_by_fsync(
    tmp_path: Path, asked: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(45, "Operation not supported")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with pytest.MonkeyPatch.context() as mac:
        mac.setattr(syncing.sys, "platform", "darwin")
        sync_all(tmp_path)
    assert asked == [("fsync", "file"), ("fsync", "file"), ("fsync", "folder")]


def test_a_folder_is_closed_even_if_the_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def fail(descriptor: int) -> None:
        opened.append(descriptor)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(syncing, "sync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        syncing.sync_folder(str(tmp_path))
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
