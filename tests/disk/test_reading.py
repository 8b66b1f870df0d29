"""Reading foreign files: regular files only, no links, and no descriptor is left open."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.disk.files import NotReadable, read_beneath

LIMIT = 100


def descriptors() -> set[int]:
    """Return the open descriptors of this process, except the one that lists them."""
    listed = [int(path.name) for path in Path("/dev/fd").iterdir()]
    return {number for number in listed if is_open(number)}


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket must be short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def make_link_to_outside(path: Path) -> None:
    (path.parent.parent / "outside").write_bytes(b"private")
    path.symlink_to("../outside")


def make_link_in_the_middle(path: Path) -> None:
    outside = path.parent.parent / "other"
    outside.mkdir()
    (outside / "it").write_bytes(b"private")
    path.symlink_to(outside)


ODD: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a folder": (Path.mkdir, "it", "it is not a regular file"),
    "a pipe that nobody writes to": (os.mkfifo, "it", "it is not a regular file"),
    "a socket": (make_socket, "it", "it is not a regular file"),
    "too large": (lambda path: path.write_bytes(b"x" * (LIMIT + 1)), "it", f"it is over the limit of {LIMIT} bytes"),
    "not there": (lambda path: None, "it", "no such file or directory"),
    "a link": (make_link_to_outside, "it", "it is a symbolic link"),
    "a link to itself": (lambda path: path.symlink_to(path), "it", "it is a symbolic link"),
    "a link that leads nowhere": (lambda path: path.symlink_to("gone"), "it", "it is a symbolic link"),
    "a folder on the way that is a link": (make_link_in_the_middle, "it/it", "not a directory"),
    "a file where a folder should be": (lambda path: path.write_bytes(b""), "it/below", "not a directory"),
    "outside": (lambda path: None, "../outside/x", "it is outside the folder"),
    "the folder above": (lambda path: None, "..", "it is not a regular file"),
    "the folder itself": (lambda path: None, "", "it is not a regular file"),
    "a name that is too long": (lambda path: None, "n" * 300, "file name too long"),
}


@pytest.mark.parametrize("what", ODD)
def test_a_path_that_is_no_file_in_the_folder_is_refused_and_no_descriptor_stays_open(
    tmp_path: Path, what: str
) -> None:
    make, path, reason = ODD[what]
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "it")
    before = descriptors()
    for _ in range(3):
        with pytest.raises(NotReadable, match=reason):
            read_beneath(str(folder), path, LIMIT)
    assert descriptors() == before


def test_a_device_is_never_opened() -> None:
    before = descriptors()
    with pytest.raises(NotReadable, match="it is not a regular file"):
        read_beneath("/dev", "null", LIMIT)
    assert descriptors() == before


def test_a_file_that_must_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it").write_bytes(b"private")
    (tmp_path / "it").chmod(0)
    # the kernel refuses nothing to root, so the call is replaced by one that fails as for other users
    if os.geteuid() == 0:
        opened = os.open

        def refuse(path: str, *arguments: int, **named: int) -> int:
            if path == "it":
                raise PermissionError(errno.EACCES, "Permission denied", path)
            return opened(path, *arguments, **named)

        monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NotReadable, match="permission denied"):
        read_beneath(str(tmp_path), "it", LIMIT)


def test_a_file_is_read_up_to_the_limit_and_nothing_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "it").write_bytes(b"x" * LIMIT)
    before = descriptors()
    assert read_beneath(str(tmp_path), "a//b/it", LIMIT) == b"x" * LIMIT
    assert descriptors() == before


def test_a_check_that_refuses_comes_before_the_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"x")

    def refuse(status: os.stat_result) -> None:
        seen.append(status.st_size)
        raise LookupError

    seen: list[int] = []
    before = descriptors()
    with pytest.raises(LookupError):
        read_beneath(str(tmp_path), "it", LIMIT, refuse)
    assert (seen, descriptors()) == ([1], before)
