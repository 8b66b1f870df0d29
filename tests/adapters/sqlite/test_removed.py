"""Stores whose files are removed, moved or replaced while a process has them open."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import StoreMissing
from covey.core.formats.layout import Layout
from covey.ports.store import Store
from covey.testing import closing, silent
from tests.adapters.sqlite.replicas import Machines
from tests.adapters.sqlite.stories import make_store, names, names_in, register
from tests.contracts.files_space import mirrored_inline, mirrored_threaded

Open = Callable[[Path], Store]
Remove = Callable[[Path], None]


OWN: dict[str, Open] = {
    "in the calling thread": lambda folder: SqliteStore(folder / "space" / "covey.db"),
    "with an event loop": lambda folder: GroupCommit(folder / "space" / "covey.db"),
    "without waiting for the disk": lambda folder: GroupCommit(folder / "space" / "covey.db", synchronous="normal"),
    "a shared folder": lambda folder: mirrored_inline(str(folder / "space"), Layout.DIALOGUE, silent),
    "a shared folder with an event loop": lambda folder: mirrored_threaded(
        str(folder / "space"), Layout.MAILBOX, silent
    ),
}
"""Ways to open a store that is not a replica of a log."""

REPLICAS: dict[str, Open] = {
    "a replica": lambda folder: Machines(folder).store("space"),
    "a replica with an event loop": lambda folder: Machines(folder).staying("space"),
}


def database(folder: Path) -> Path:
    """Return the database of the space in a folder."""
    hidden = folder / "space" / ".covey" / "covey.db"
    return hidden if hidden.exists() else folder / "space" / "covey.db"


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def replace_by_another_store(folder: Path) -> None:
    make_store(folder / "other" / "covey.db")
    (folder / "other" / "covey.db").replace(database(folder))


def replace_folder(folder: Path) -> None:
    path = database(folder)
    path.parent.rename(folder / "away")
    make_store(path)


def replace_by_folder(folder: Path) -> None:
    path = database(folder)
    path.unlink()
    path.mkdir()


def move(path: Path, to: Path) -> None:
    path.rename(to)


def replace_log(folder: Path) -> None:
    log = beside(database(folder), "-wal")
    Path(shutil.copy(log, folder / "copy")).replace(log)


REMOVALS: dict[str, Remove] = {
    "the folder is removed": lambda folder: shutil.rmtree(folder / "space"),
    "the folder is moved": lambda folder: move(folder / "space", folder / "away"),
    "the folder is replaced": replace_folder,
    "the file is removed": lambda folder: database(folder).unlink(),
    "the file is moved": lambda folder: move(database(folder), folder / "away.db"),
    "the file is replaced": replace_by_another_store,
    "the file is replaced by a folder": replace_by_folder,
}
OF_THE_LOG: dict[str, Remove] = {
    "the log is removed": lambda folder: beside(database(folder), "-wal").unlink(),
    "the index of the log is removed": lambda folder: beside(database(folder), "-shm").unlink(),
    "the log is replaced": replace_log,
}


async def refused(call: Awaitable[object]) -> StoreMissing:
    with pytest.raises(StoreMissing) as caught:
        await call
    return caught.value


@pytest.mark.requirement("trust.store.removed")
@pytest.mark.parametrize("remove", REMOVALS.values(), ids=REMOVALS)
@pytest.mark.parametrize("opened", [*OWN.values(), *REPLICAS.values()], ids=[*OWN, *REPLICAS])
async def test_nothing_is_accepted_or_shown_after_the_store_was_removed(
    tmp_path: Path, opened: Open, remove: Remove
) -> None:
    async with closing(opened(tmp_path)) as store:
        assert await store.commit(register("before")) == "before"
        path = database(tmp_path)
        remove(tmp_path)
        said = await refused(store.commit(register("after")))
        assert str(path) in said.message
        await refused(store.read(names))
        await refused(store.read(names, is_long=True))
        await refused(store.commit(register("light"), is_light=True))
        await refused(store.commit(register("long"), is_long=True))


@pytest.mark.parametrize("remove", OF_THE_LOG.values(), ids=OF_THE_LOG)
@pytest.mark.parametrize("opened", [*OWN.values(), *REPLICAS.values()], ids=[*OWN, *REPLICAS])
async def test_nothing_is_accepted_after_the_log_was_removed(tmp_path: Path, opened: Open, remove: Remove) -> None:
    async with closing(opened(tmp_path)) as store:
        await store.commit(register("before"))
        remove(tmp_path)
        await refused(store.commit(register("after")))
        await refused(store.commit(register("light"), is_light=True))


@pytest.mark.parametrize("opened", OWN.values(), ids=OWN)
async def test_a_store_that_was_moved_away_and_back_must_be_opened_again(tmp_path: Path, opened: Open) -> None:
    async with closing(opened(tmp_path)) as store:
        await store.commit(register("before"))
        (tmp_path / "space").rename(tmp_path / "away")
        await refused(store.commit(register("meanwhile")))
        (tmp_path / "away").rename(tmp_path / "space")
        await refused(store.commit(register("after")))
    async with closing(opened(tmp_path)) as again:
        await again.commit(register("again"))
        found = await again.read(names)
        assert {"before", "again"} <= set(found)
        assert "after" not in found


@pytest.mark.parametrize("opened", REPLICAS.values(), ids=REPLICAS)
async def test_a_replica_that_was_removed_is_rebuilt_from_its_log(tmp_path: Path, opened: Open) -> None:
    machines = Machines(tmp_path)
    way = machines.store if opened is REPLICAS["a replica"] else machines.staying
    async with closing(way("space")) as store:
        await store.commit(register("before"))
        shutil.rmtree(tmp_path / "space")
        await refused(store.commit(register("after")))
    async with closing(way("space")) as again:
        assert await again.read(names) == ["before"]


async def test_nothing_is_created_in_place_of_a_removed_store(tmp_path: Path) -> None:
    async with closing(GroupCommit(tmp_path / "space" / "covey.db")) as store:
        await store.commit(register("before"))
        shutil.rmtree(tmp_path / "space")
        for n in range(3):
            await refused(store.commit(register(f"agent-{n}")))
    assert not (tmp_path / "space").exists()


async def test_the_lock_file_of_the_writers_can_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    async with closing(GroupCommit(path)) as store, closing(GroupCommit(path)) as other:
        await store.commit(register("alice"))
        beside(path, "-turn").unlink()
        await store.commit(register("bob"))
        await other.commit(register("carol"))
        async with closing(GroupCommit(path)) as late:
            await late.commit(register("dave"))
            await store.commit(register("erin"))
    assert sorted(names_in(path)) == ["alice", "bob", "carol", "dave", "erin"]
