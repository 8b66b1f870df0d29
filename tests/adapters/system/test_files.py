"""Files of declared roots: none of a store, none that contains a credential, and no leaked descriptor."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import covey
from covey import Card
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.core.errors import FileOffLimits, FileOutsideRoots, Invalid
from covey.core.identity import token_from
from tests.disk.test_reading import LIMIT, ODD, descriptors

LIMIT_S = 30.0
SECRET = SystemIds().secret()


def files_in(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def rooted(*roots: Path, ledger: Path | None = None) -> RootedFiles:
    return RootedFiles([str(root) for root in roots], StoreFiles(None if ledger is None else str(ledger)))


async def lively_space(url: str, folder: Path) -> None:
    """Use all features of a space that create files next to its ledger."""
    (folder / "mine.txt").write_text("mine")
    async with asyncio.timeout(LIMIT_S), covey.open(url, roots=[str(folder)]) as space:
        lead = await space.join("lead", card=Card(command=(sys.executable, "-c", "print('done')")))
        part = await lead.attach(str(folder / "mine.txt"))
        await lead.send("lead", "hello", files=[part])
        assert await space.search("hello")
        child = await lead.spawn("Go", attachments=[str(folder / "mine.txt")])
        assert await child.result(timeout=LIMIT_S)
        assert_all_refused(folder, Path(url.partition(":")[2].partition("?")[0]))


def assert_all_refused(folder: Path, ledger: Path) -> None:
    files = rooted(folder, ledger=ledger)
    found = [path for path in files_in(folder) if path != folder / "mine.txt"]
    assert {path.name for path in found} >= {ledger.name, f"{ledger.name}-wal"}
    assert any("blobs" in path.parts for path in found)
    for path in found:
        with pytest.raises(FileOffLimits):
            files.read(str(path))
    assert files.read(str(folder / "mine.txt")).content == b"mine"


@pytest.mark.parametrize("ledger", [".covey/covey.db", "covey.db", "space/ledger"])
async def test_no_file_that_a_space_makes_can_be_read(tmp_path: Path, ledger: str) -> None:
    await lively_space(f"sqlite:{tmp_path / ledger}", tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        token_from(SECRET),
        f"export COVEY_TOKEN={token_from(SECRET)}\n",
        f"COVEY_SESSION=00000000-0000-4000-8000-000000000001:{SECRET}",
        "-----BEGIN USER NKEY SEED-----\nSU" + "A" * 56 + "\n",
    ],
    ids=["token", "environment", "session", "seed"],
)
def test_a_credential_is_recognised_at_any_place_in_a_file_with_any_name(tmp_path: Path, content: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"# notes\n{content}")
    (tmp_path / "link.txt").symlink_to(secret)
    (tmp_path / "copy.txt").hardlink_to(secret)
    for name in ("secret", "link.txt", "copy.txt", f"../{tmp_path.name}/secret"):
        with pytest.raises(FileOffLimits, match="in it"):
            rooted(tmp_path).read(str(tmp_path / name))


def test_a_file_that_only_mentions_tokens_is_read(tmp_path: Path) -> None:
    text = "Tokens begin with covey_ and tests are called test_covey_token_is_refused. SUPPORT, SUBSCRIBE."
    (tmp_path / "notes.md").write_text(text)
    assert rooted(tmp_path).read(str(tmp_path / "notes.md")).content.decode() == text


async def test_a_hard_link_to_a_file_of_the_store_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    ledger = tmp_path / ".covey" / "covey.db"
    async with covey.open(f"sqlite:{ledger}") as space:
        await (await space.join("lead")).send("lead", "hello")
        (tmp_path / "a.txt").hardlink_to(f"{ledger}-wal")
        with pytest.raises(FileOffLimits):
            rooted(tmp_path, ledger=ledger).read(str(tmp_path / "a.txt"))
        with pytest.raises(FileOffLimits):
            rooted(tmp_path, ledger=ledger).read_beneath(str(tmp_path), "a.txt")


async def test_the_ledger_of_another_space_is_recognised_by_its_content(tmp_path: Path) -> None:
    async with covey.open(f"sqlite:{tmp_path}/other.db") as space:
        await space.join("lead")
    with pytest.raises(FileOffLimits, match="the ledger of a space"):
        rooted(tmp_path).read(str(tmp_path / "other.db"))


def test_a_program_reads_its_own_workplace_and_no_other_files_of_the_store(tmp_path: Path) -> None:
    store = tmp_path / ".covey"
    for run in ("one", "two"):
        (store / "runs" / run / "output").mkdir(parents=True)
        (store / "runs" / run / "output" / "it").write_bytes(b"done")
    own = str(store / "runs" / "one" / "output" / "it")
    assert rooted(store / "runs" / "one").read(own).content == b"done"
    with pytest.raises(FileOutsideRoots):
        rooted(store / "runs" / "one").read(str(store / "runs" / "two" / "output" / "it"))
    for root in (tmp_path, store, store / "runs"):
        with pytest.raises(FileOffLimits):
            rooted(root).read(own)


@pytest.mark.parametrize("what", ODD)
def test_reading_an_entry_that_is_not_a_file_leaks_no_descriptor(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.adapters.system.files.MAX_FILE_BYTES", LIMIT)
    make, path, _ = ODD[what]
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "it")
    before = descriptors()
    for _ in range(3):
        with pytest.raises((Invalid, FileOutsideRoots)):
            rooted(folder).read(str(folder / path))
        with pytest.raises(Invalid):
            rooted(folder).read_beneath(str(folder), path)
    assert descriptors() == before


def test_without_roots_no_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"x")
    with pytest.raises(FileOutsideRoots):
        rooted().read(str(tmp_path / "it"))
    with pytest.raises(FileOutsideRoots):
        rooted().read(os.devnull)
