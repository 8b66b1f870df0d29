"""Hostile backups and exports: each is refused with a clear error, within limits of memory and size.

Nothing is left.
"""

import gzip
import hashlib
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from covey.adapters.archive.tar import TarArchives
from covey.core.errors import Unavailable
from covey.core.formats.export import tail
from covey.surfaces.cli.exits import UNAVAILABLE
from tests.adapters.children import ROOT

LIMIT_S = 120.0
MEMORY = 600 * 1024 * 1024
"""The limit of the program's address space. Importing Covey takes about half of it."""
WRITTEN = 100 * 1024 * 1024
"""The limit of the size of a file that the program writes."""

BOUNDED = f"""
import contextlib, io, json, os, resource, sys, traceback
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_FSIZE, ({WRITTEN}, {WRITTEN}))
from covey.surfaces.cli.main import main
"""
ONE = f"{BOUNDED}sys.exit(main(sys.argv[1:]))"
EACH = f"""{BOUNDED}
start, *words = sys.argv[1:]
for folder in sorted(os.listdir(start)):
    os.chdir(os.path.join(start, folder))
    out, code = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(out):
            code = main(words)
    except BaseException:
        out.write(traceback.format_exc())
    print(json.dumps([folder, code, out.getvalue()]))
"""
"""Runs the same command in each subfolder of a folder."""


class Member(tarfile.TarInfo):
    """A member of a tar file, with its content."""

    def __init__(self, name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> None:
        super().__init__(name)
        self.content = content
        self.size = len(content)
        self.type = kind
        self.linkname = link


Make = Callable[["Whole"], bytes]


class Whole:
    """An intact backup, split into its members."""

    def __init__(self, file: Path) -> None:
        self.content = file.read_bytes()
        with tarfile.open(file) as tar:
            self.members = [Member(m.name, (tar.extractfile(m) or io.BytesIO()).read()) for m in tar.getmembers()]

    def tar(self, *members: Member) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for member in members:
                tar.addfile(member, io.BytesIO(member.content))
        return buffer.getvalue()

    def with_contents(self, change: Callable[[str], str]) -> bytes:
        """Return the backup with a changed description."""
        contents, *rest = self.members
        return self.tar(Member(contents.name, change(contents.content.decode()).encode()), *rest)

    def replaced(self, place: int, *members: Member) -> bytes:
        return self.tar(*self.members[:place], *members, *self.members[place + 1 :])


def blob(content: bytes) -> Member:
    return Member(f"blobs/{hashlib.sha256(content).hexdigest()}", content)


def claim(size: int, kind: bytes) -> bytes:
    """Return the header of a member that claims a size."""
    member = tarfile.TarInfo("contents.json")
    member.size = size
    member.type = kind
    return member.tobuf(tarfile.GNU_FORMAT)


def zeros(packed: Callable[[bytes], bytes], size: int) -> bytes:
    """Return a compressed member of zeros: a few megabytes that decompress to gigabytes."""
    step = bytes(64 * 1024 * 1024)
    head = packed(claim(size, tarfile.REGTYPE))
    return head + packed(step) * (size // len(step))


def sparse(whole: Whole) -> bytes:
    """Return a backup whose records are a sparse member: a few bytes that expand to 4 GB."""
    contents, records, *rest = whole.members
    pax = tarfile.TarInfo(records.name)
    pax.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(4 << 30)}
    body = b"1\n0\n1\n".ljust(512, b"\0") + b"x".ljust(512, b"\0")
    pax.size = len(body)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(contents, io.BytesIO(contents.content))
        tar.addfile(pax, io.BytesIO(body))
        for member in rest:
            tar.addfile(member, io.BytesIO(member.content))
    return buffer.getvalue()


HOSTILE: dict[str, Make] = {
    "a symbolic link as the description": lambda whole: whole.replaced(
        0, Member("contents.json", kind=tarfile.SYMTYPE, link="/etc/passwd")
    ),
    "a symbolic link as the records": lambda whole: whole.replaced(
        1, Member("covey.db", kind=tarfile.SYMTYPE, link="/etc/passwd")
    ),
    "a hard link as the records": lambda whole: whole.replaced(
        1, Member("covey.db", kind=tarfile.LNKTYPE, link="contents.json")
    ),
    "a device": lambda whole: whole.replaced(1, Member("covey.db", kind=tarfile.CHRTYPE)),
    "a pipe": lambda whole: whole.replaced(1, Member("covey.db", kind=tarfile.FIFOTYPE)),
    "a folder": lambda whole: whole.replaced(1, Member("covey.db", kind=tarfile.DIRTYPE)),
    "an absolute path": lambda whole: whole.replaced(1, Member("/tmp/covey.db", whole.members[1].content)),
    "a path upwards": lambda whole: whole.replaced(1, Member("../covey.db", whole.members[1].content)),
    "a blob with a path upwards": lambda whole: whole.replaced(2, Member("blobs/../../x", b"x")),
    "a blob twice": lambda whole: whole.replaced(2, whole.members[2], whole.members[2]),
    "a blob that is another": lambda whole: whole.replaced(2, Member(whole.members[2].name, b"other")),
    "records twice": lambda whole: whole.replaced(1, whole.members[1], whole.members[1]),
    "something after the end": lambda whole: whole.tar(*whole.members, Member("more", b"x")),
    "sparse records": sparse,
    "an infinite number": lambda whole: whole.with_contents(
        lambda text: text.replace('"position": ', '"position": 1e400, "x": ')
    ),
    "not a number": lambda whole: whole.with_contents(
        lambda text: text.replace('"position": ', '"position": NaN, "x": ')
    ),
    "a number with a fraction": lambda whole: whole.with_contents(
        lambda text: text.replace('"position": ', '"position": 1.5, "x": ')
    ),
    "a number of ten thousand digits": lambda whole: whole.with_contents(
        lambda text: text.replace('"position": ', f'"position": {"9" * 10_000}, "x": ')
    ),
    "deep JSON": lambda whole: whole.with_contents(lambda _text: "[" * 500_000),
    "a description that is a list": lambda whole: whole.with_contents(lambda _text: "[]"),
    "a description of 4 GB": lambda whole: claim(4 << 30, tarfile.REGTYPE),
    "an extended header of 4 GB": lambda whole: claim(4 << 30, tarfile.XHDTYPE),
    "a long name of 4 GB": lambda whole: claim(4 << 30, tarfile.GNUTYPE_LONGNAME),
    "extended headers without end": lambda whole: b"".join([claim(0, tarfile.XHDTYPE)] * 5000) + whole.content,
    "4 GB in a few megabytes (gzip)": lambda whole: zeros(gzip.compress, 4 << 30),
    "4 GB in some kilobytes (xz)": lambda whole: zeros(lzma.compress, 4 << 30),
    "a compressed file that is cut short": lambda whole: gzip.compress(whole.content)[:-100],
    "no tar file": lambda whole: b"not a tar file at all",
    "nothing": lambda whole: b"",
}


def bounded(folder: Path, *words: str, given: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run a command with limits of its address space and of the size of its files."""
    return _run(folder, ONE, words, given)


def _run(
    folder: Path, program: str, words: Sequence[str], given: bytes | None = None
) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-c", program, *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, timeout=LIMIT_S, check=False
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "notes.txt").write_text("notes")
    sent = bounded(folder, "send", "hello", "--from", "ann", "--to", "bob", "--register", "--file", "notes.txt")
    assert sent.returncode == 0, sent.stderr
    assert bounded(folder, "backup", "space.tar").returncode == 0
    return Whole(folder / "space.tar")


@pytest.fixture(scope="module")
def refusals(whole: Whole, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[int | None, str]]:
    """Restore each hostile backup, all in one process with limits; return the exit code and the output for each."""
    start = tmp_path_factory.mktemp("hostile")
    for name, make in HOSTILE.items():
        (start / name).mkdir()
        (start / name / "space.tar").write_bytes(make(whole))
    words = [str(start), "restore", "space.tar", "--to", "sqlite:space/covey.db", "--json"]
    said = _run(start, EACH, words)
    assert said.returncode == 0, said
    for name in HOSTILE:
        left = {path.name for path in (start / name).rglob("*") if path.is_file()}
        assert left <= {"space.tar", ".gitignore"}, name
    return {folder: (code, words) for folder, code, words in map(json.loads, said.stdout.splitlines())}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_backup_is_refused_within_bounds_and_nothing_is_left(
    refusals: Mapping[str, tuple[int | None, str]], name: str
) -> None:
    code, words = refusals[name]
    assert code == UNAVAILABLE, words
    assert json.loads(words)["error"]["code"] == "backup-unusable"


def test_extracted_records_are_private_to_their_owner_and_no_link_is_followed(whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "space.tar").write_bytes(whole.content)
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    before = os.umask(0)
    try:
        with TarArchives().open(str(tmp_path / "space.tar")) as archive:
            archive.extract_records(str(tmp_path / "staged"), lambda _done, _of: None)
        with TarArchives().open(str(tmp_path / "space.tar")) as archive, pytest.raises(Unavailable):
            archive.extract_records(str(tmp_path / "link"), lambda _done, _of: None)
    finally:
        os.umask(before)
    assert (tmp_path / "staged").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "victim").exists()


def test_an_intact_backup_is_restored_within_the_same_bounds(whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "space.tar").write_bytes(whole.content)
    assert bounded(tmp_path, "restore", "space.tar", "--to", "sqlite:space/covey.db").returncode == 0
    assert b"hello" in bounded(tmp_path, "inbox", "bob", "--store", "sqlite:space/covey.db").stdout


def line(document: str) -> bytes:
    """Return a line of an export with a correct checksum."""
    body = document.encode()
    return body + tail(body)


EXPORTS: dict[str, Callable[[bytes], bytes]] = {
    "an infinite number": lambda head: head + line('{"record":"agent","x":1e400'),
    "not a number": lambda head: head + line('{"record":"agent","x":NaN'),
    "deep JSON": lambda head: head + line('{"record":"agent","x":' + "[" * 500_000),
    "a list": lambda head: head + line('["record"'),
    "a kind that is an object": lambda head: head + line('{"record":{}'),
    "a record without fields": lambda head: head + line('{"record":"session"'),
    "a line without end": lambda head: head + b"x" * (150 * 1024 * 1024),
    "no export": lambda _head: b"x" * (150 * 1024 * 1024),
    "nothing": lambda _head: b"",
}


HUGE = ("a line without end", "no export")


@pytest.fixture(scope="module")
def space(whole: Whole, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a space."""
    folder = tmp_path_factory.mktemp("space")
    (folder / "backup.tar").write_bytes(whole.content)
    assert bounded(folder, "restore", "backup.tar", "--to", "sqlite:.covey/covey.db").returncode == 0
    return folder


@pytest.fixture(scope="module")
def head(space: Path) -> bytes:
    """Return the first line of an export."""
    exported = bounded(space, "export", "-")
    assert exported.returncode == 0, exported.stderr
    return exported.stdout.splitlines(keepends=True)[0]


@pytest.mark.parametrize("make", EXPORTS.values(), ids=EXPORTS)
def test_a_hostile_export_is_refused_within_bounds(space: Path, head: bytes, make: Callable[[bytes], bytes]) -> None:
    (space / "space.jsonl").write_bytes(make(head))
    check_refused(bounded(space, "import", "space.jsonl", "--json"), "export-damaged")


@pytest.mark.parametrize("name", HUGE)
def test_input_from_a_pipe_has_the_same_bounds(space: Path, head: bytes, name: str) -> None:
    said = bounded(space, "import", "-", "--json", given=EXPORTS[name](head))
    check_refused(said, "export-damaged", "invalid")


def check_refused(said: "subprocess.CompletedProcess[bytes]", *codes: str) -> None:
    assert b"Traceback" not in said.stderr
    assert json.loads(said.stdout)["error"]["code"] in codes
