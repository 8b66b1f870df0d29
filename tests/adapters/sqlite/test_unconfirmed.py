"""A disk that does not confirm a commit: the error names the affected messages, and nothing more is written."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.core.errors import StoreStopped, StoreUnconfirmed
from covey.core.formats.layout import Layout
from covey.core.ledger.wire import encode
from covey.core.names import MessageId, Topic
from covey.disk import files as syncing
from covey.ports.store import Operation, Store, Transaction
from covey.testing import a_message, a_message_id, an_event, closing
from covey.testing.factories import Ring
from tests.adapters.children import ROOT
from tests.adapters.sqlite.stories import LIMIT_S, names, register
from tests.contracts.files_space import mirrored_threaded

Open = Callable[[Path, Ring], Store]

WAYS: dict[str, Open] = {
    "a file": lambda folder, ring: GroupCommit(folder / "covey.db", ring=ring),
    "a shared folder": lambda folder, ring: mirrored_threaded(str(folder), Layout.DIALOGUE, ring),
}


def send(n: int) -> Operation[MessageId]:
    async def operation(transaction: Transaction) -> MessageId:
        message = a_message(n)
        await transaction.messages.add(message, encode(message))
        await transaction.journal.append(an_event(n))
        transaction.ring(Topic("sent"))
        return message.id

    return operation


def has(n: int) -> Operation[bool]:
    async def operation(transaction: Transaction) -> bool:
        return await transaction.messages.get(a_message_id(n)) is not None

    return operation


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that breaks the disk once: the kernel reports a failed write a single time."""

    def break_disk() -> None:
        sync = os.fdatasync

        def fail_once(_descriptor: int) -> None:
            monkeypatch.setattr(syncing.os, "fdatasync", sync)
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(syncing.os, "fdatasync", fail_once)

    return break_disk


@pytest.mark.requirement("trust.sync.failed")
@pytest.mark.parametrize("opened", WAYS.values(), ids=WAYS)
async def test_the_error_of_each_sender_names_its_own_messages_and_nothing_rings(
    tmp_path: Path, broken: Callable[[], None], opened: Open
) -> None:
    rung: list[Collection[Topic]] = []
    async with closing(opened(tmp_path, rung.append)) as store:
        await store.commit(register("alice"))
        broken()
        outcomes = await asyncio.gather(store.commit(send(1)), store.commit(send(2)), return_exceptions=True)
    assert rung == []
    async with closing(opened(tmp_path, rung.append)) as again:
        for n, error in enumerate(outcomes, 1):
            if isinstance(error, StoreStopped):  # the commit came after the disk had failed
                assert not await again.read(has(n))
            else:
                assert isinstance(error, StoreUnconfirmed)
                assert error.message_ids == (a_message_id(n),)
                assert a_message_id(n) in error.message
    assert any(isinstance(error, StoreUnconfirmed) for error in outcomes)


@pytest.mark.requirement("trust.sync.failed")
@pytest.mark.parametrize("opened", WAYS.values(), ids=WAYS)
async def test_nothing_is_written_or_shown_until_the_store_is_opened_again(
    tmp_path: Path, broken: Callable[[], None], opened: Open
) -> None:
    async with closing(opened(tmp_path, lambda _topics: None)) as store:
        await store.commit(register("alice"))
        broken()
        with pytest.raises(StoreUnconfirmed, match="Input/output error"):
            await store.commit(send(1))
        for is_light in (False, True):
            with pytest.raises(StoreStopped, match="Input/output error"):
                await store.commit(register("bob"), is_light=is_light)
        with pytest.raises(StoreStopped):
            await store.read(names)
    async with closing(opened(tmp_path, lambda _topics: None)) as again:
        was_kept = await again.read(has(1))
        assert await again.commit(send(1) if not was_kept else send(2))
        assert "bob" not in await again.read(names)


async def test_a_change_without_messages_is_unconfirmed_too(tmp_path: Path, broken: Callable[[], None]) -> None:
    async with closing(GroupCommit(tmp_path / "covey.db")) as store:
        broken()
        with pytest.raises(StoreUnconfirmed, match="a change") as caught:
            await store.commit(register("alice"))
    assert caught.value.message_ids == ()


async def test_a_stopped_store_is_checkpointed_completely_before_it_is_used_again(
    tmp_path: Path, broken: Callable[[], None]
) -> None:
    path = tmp_path / "covey.db"
    async with closing(GroupCommit(path)) as bystander:
        await bystander.commit(register("alice"))
        async with closing(GroupCommit(path)) as store:
            broken()
            with pytest.raises(StoreUnconfirmed):
                await store.commit(send(1))
        async with closing(GroupCommit(path)):
            # All records of the log are in the database now, so the file alone is the store.
            shutil.copy(path, tmp_path / "copy.db")
    async with closing(GroupCommit(tmp_path / "copy.db")) as copy:
        assert await copy.read(has(1))


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* Fail each sync of a log while the file that FAILING names is there. */
#include <stdlib.h>
static int is_broken(int fd) {
    char link[64], path[4096];
    struct stat there;
    const char *failing = getenv("FAILING");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4 || failing == NULL || stat(failing, &there) != 0) return 0;
    path[length] = 0;
    return strcmp(path + length - 4, "-wal") == 0;
}
int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (is_broken(fd)) { errno = EIO; return -1; }
    return real(fd);
}
int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (is_broken(fd)) { errno = EIO; return -1; }
    return real(fd);
}
"""

COMMIT = """
import asyncio, json, sys
from pathlib import Path
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import CoveyError
from tests.adapters.sqlite.test_unconfirmed import send

async def main(folder, way):
    store = {"threaded": GroupCommit, "inline": SqliteStore}[way](folder / "covey.db")
    said = []
    for n in (1, 2, 3):
        if n == 2:
            (folder / "failing").touch()
        try:
            said.append(await store.commit(send(n)))
        except CoveyError as error:
            said.append([error.code, error.details.get("message_ids")])
    await store.close()
    (folder / "failing").unlink()
    again = {"threaded": GroupCommit, "inline": SqliteStore}[way](folder / "covey.db")
    said.append(await again.commit(send(4)))
    await again.close()
    print(json.dumps(said))

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs gcc, and Linux")
@pytest.mark.parametrize("way", ["inline", "threaded"])
def test_a_sync_that_fails_in_the_kernel_is_reported_in_the_same_way(tmp_path: Path, way: str) -> None:
    library = tmp_path / "failing.so"
    build = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-", "-ldl"]
    subprocess.run(build, input=SHIM, text=True, check=True, timeout=LIMIT_S)
    environment = os.environ | {"LD_PRELOAD": str(library), "FAILING": str(tmp_path / "failing")}
    command = [sys.executable, "-c", COMMIT, str(tmp_path), way]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert json.loads(run.stdout) == [
        a_message_id(1),
        ["store-unconfirmed", [a_message_id(2)]],
        ["store-stopped", None],
        a_message_id(4),
    ]
