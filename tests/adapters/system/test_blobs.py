"""Blobs on a real disk: damage, killed writers, a full disk, missing permissions."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from covey.adapters.system.blobs import BlobFiles
from covey.core.errors import BlobMissing, StoreReadOnly
from tests.adapters.children import ROOT, child

NOBODY = 65534


def file_of(folder: Path, digest: str) -> Path:
    return folder / "blobs" / digest[:2] / digest[2:]


def unfinished(folder: Path) -> list[str]:
    return [path.name for path in (folder / "blobs" / "tmp").iterdir()]


async def test_content_is_kept_under_its_digest_for_its_owner_alone(tmp_path: Path) -> None:
    digest = await BlobFiles(str(tmp_path)).put(b"hello")
    assert digest == hashlib.sha256(b"hello").hexdigest()
    file = file_of(tmp_path, digest)
    assert file.read_bytes() == b"hello"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in (file.parent, file.parent.parent, tmp_path / "blobs" / "tmp"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert unfinished(tmp_path) == []
    assert await BlobFiles(str(tmp_path)).get(digest) == b"hello"


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 5 * 1024 * 1024 + 1])
async def test_content_of_any_size_comes_back(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    blobs = BlobFiles(str(tmp_path))
    digest = await blobs.put(content)
    assert await blobs.get(digest) == content
    assert await blobs.has(digest)


async def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    blobs = BlobFiles(str(tmp_path))
    digest = await blobs.put(b"once")
    before = file_of(tmp_path, digest).stat()
    assert await blobs.put(b"once") == digest
    assert await BlobFiles(str(tmp_path)).put(b"once") == digest
    after = file_of(tmp_path, digest).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("damage", [b"", b"conten", b"CONTENT", b"content and more"])
async def test_damaged_content_is_missing_until_it_is_put_again(tmp_path: Path, damage: bytes) -> None:
    blobs = BlobFiles(str(tmp_path))
    digest = await blobs.put(b"content")
    file_of(tmp_path, digest).write_bytes(damage)
    assert not await blobs.has(digest)
    with pytest.raises(BlobMissing):
        await blobs.get(digest)
    await blobs.put(b"content")
    assert await blobs.get(digest) == b"content"


@pytest.mark.parametrize(
    "digest",
    [
        "",
        ".",
        "../" * 20 + "etc/passwd",
        "/etc/passwd",
        "a" * 63,
        "a" * 65,
        "A" * 64,
        "g" * 64,
        "\0" * 64,
        "a" * 64 + "\n",
    ],
)
async def test_an_invalid_digest_is_missing(tmp_path: Path, digest: str) -> None:
    blobs = BlobFiles(str(tmp_path))
    assert not await blobs.has(digest)
    with pytest.raises(BlobMissing):
        await blobs.get(digest)


async def test_reading_creates_no_files(tmp_path: Path) -> None:
    blobs = BlobFiles(str(tmp_path))
    assert not await blobs.has("a" * 64)
    with pytest.raises(BlobMissing):
        await blobs.get("a" * 64)
    assert list(tmp_path.iterdir()) == []


def test_the_methods_never_suspend(tmp_path: Path) -> None:
    blobs = BlobFiles(str(tmp_path))
    with pytest.raises(StopIteration) as done:
        blobs.put(b"inline").send(None)
    with pytest.raises(StopIteration) as read:
        blobs.get(str(done.value.value)).send(None)
    assert read.value.value == b"inline"


async def test_folders_that_were_cleaned_away_are_made_again(tmp_path: Path) -> None:
    blobs = BlobFiles(str(tmp_path))
    digest = await blobs.put(b"content")
    shutil.rmtree(tmp_path / "blobs")
    assert await blobs.put(b"content") == digest
    assert await blobs.get(digest) == b"content"


async def test_files_that_killed_writers_left_are_harmless_and_swept_when_old(tmp_path: Path) -> None:
    program = """
import os, sys
from covey.adapters.system.blobs import BlobFiles
def stop(*_):
    print("writing")
    sys.stdin.readline()
os.rename = stop
BlobFiles(sys.argv[1]).put(b"content").send(None)
"""
    with child(program, str(tmp_path)) as writer:
        assert writer.line() == "writing"
        writer.kill()
    (left,) = unfinished(tmp_path)
    digest = hashlib.sha256(b"content").hexdigest()
    assert not await BlobFiles(str(tmp_path)).has(digest)
    await BlobFiles(str(tmp_path)).put(b"content")
    assert unfinished(tmp_path) == [left]
    os.utime(tmp_path / "blobs" / "tmp" / left, (1, 1))
    await BlobFiles(str(tmp_path)).put(b"other")
    assert unfinished(tmp_path) == []
    assert await BlobFiles(str(tmp_path)).get(digest) == b"content"


async def test_several_processes_put_the_same_content_at_once(tmp_path: Path) -> None:
    program = """
import sys
from covey.adapters.system.blobs import BlobFiles
print("ready")
sys.stdin.readline()
blobs = BlobFiles(sys.argv[1])
for n in range(20):
    try:
        blobs.put(str(n).encode() * 10000).send(None)
    except StopIteration as done:
        print(done.value)
"""
    with child(program, str(tmp_path)) as a, child(program, str(tmp_path)) as b, child(program, str(tmp_path)) as c:
        writers = (a, b, c)
        assert [writer.line() for writer in writers] == ["ready"] * 3
        for writer in writers:
            writer.say("go")
        blobs = BlobFiles(str(tmp_path))
        for n in range(20):
            digests = {writer.line() for writer in writers}
            assert len(digests) == 1
            assert await blobs.get(digests.pop()) == str(n).encode() * 10000
    assert unfinished(tmp_path) == []


PUT_UNTIL_REFUSED = """
import sys
from covey.adapters.system.blobs import BlobFiles
from covey.core.errors import CoveyError

def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value

blobs = BlobFiles(sys.argv[1])
kept = []
try:
    for n in range(1000):
        kept.append(run(blobs.put(bytes([n % 256]) * 50_000 + str(n).encode())))
except CoveyError as error:
    print(error.code, len(kept) > 0, all(run(blobs.has(digest)) for digest in kept))
"""


def run_in_mounts(script: str, *arguments: str) -> str:
    """Run a shell script that may mount file systems privately. $0 is the Python to use."""
    ran = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script, sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


can_mount = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True, timeout=20, check=False
    ).returncode
    != 0,
    reason="no private mounts here",
)


@can_mount
def test_a_full_disk_is_store_full_and_loses_nothing(tmp_path: Path) -> None:
    script = """
mount -t tmpfs -o size=1m none "$1"
"$0" -c "$2" "$1"
ls "$1/blobs/tmp" | wc -l
"""
    assert run_in_mounts(script, str(tmp_path), PUT_UNTIL_REFUSED).split() == ["store-full", "True", "True", "0"]


@can_mount
def test_a_read_only_disk_is_store_read_only(tmp_path: Path) -> None:
    script = """
mount -t tmpfs -o size=1m none "$1"
mount -o remount,ro "$1"
"$0" -c "$2" "$1"
"""
    assert run_in_mounts(script, str(tmp_path), PUT_UNTIL_REFUSED).split() == ["store-read-only", "False", "True"]


async def test_a_folder_without_the_right_to_write_is_store_read_only(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(StoreReadOnly):
            await BlobFiles(str(tmp_path)).put(b"x")
        tmp_path.chmod(0o700)
        return
    become_nobody = f"import hashlib, os; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    with child(PUT_UNTIL_REFUSED.replace("blobs = ", become_nobody + "blobs = ", 1), "/usr/covey-none") as writer:
        assert writer.line().split()[0] == "store-read-only"
