"""Visits: one at a time among all processes, cheap if nothing has changed, and with a notebook that may be lost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from covey.adapters.folder import entries as freshness
from covey.adapters.folder.atomic import OpenCommitGate
from covey.adapters.folder.folder import FilesFolder
from covey.adapters.folder.notebook.database import NOTEBOOK, is_damaged, throw_away
from covey.core.coroutine import finish
from covey.core.errors import StoreBusy, StoreClosed
from covey.core.formats.layout import Layout, Shelf
from covey.ports.folder import FolderChanges, Visit
from tests.adapters.children import LIMIT_S, ROOT, child
from tests.adapters.folder.desk import ALL, Desk, content, message_id

VISITING = """
import sys
from pathlib import Path
from typing import Any
from covey.core.formats.layout import Layout
from tests.adapters.folder.desk import Desk
desk = Desk(Path(sys.argv[1]), Layout(sys.argv[2]))
async def stay(visit):
    print("in")
    sys.stdin.readline()
desk.during(stay)
print("out")
"""

SENDING = """
import sys
from pathlib import Path
from typing import Any
from covey.core.formats.layout import Layout
from tests.adapters.folder.desk import Desk, ALL
desk = Desk(Path(sys.argv[1]), Layout(sys.argv[2]))
first = int(sys.argv[3])
async def send(visit):
    global n
    sighting = await visit.look(ALL)
    assert not sighting.arrived and not sighting.left, sighting
    await visit.bring([desk.sheet(n)])
    await visit.advance(visit.position + 1)
    if visit.manifest_position >= 0:
        await visit.append([(visit.position, '{"id": %d}' % n)], visit.position)
print("ready")
sys.stdin.readline()
for n in range(first, first + 25):
    desk.during(send)
print("done")
"""

LOOKING = """
import json, sys
before = set(sys.modules)
from covey.adapters.folder.folder import FilesFolder
from covey.core.coroutine import finish
from covey.core.formats.layout import Layout
folder = FilesFolder(sys.argv[1], Layout(sys.argv[2]))
async def look():
    async with folder.visit(5) as visit:
        return await visit.look(100)
folder.has_news()
found = finish(look())
finish(folder.close())
print(json.dumps([len(found.arrived), sorted(set(sys.modules) - before)]))
"""

NEVER = """
    asyncio concurrent ctypes dataclasses hashlib inspect logging pathlib random secrets shutil socket sqlite3 ssl
    subprocess tempfile threading urllib uuid
"""


def notebook(desk: Desk) -> str:
    return str(desk.root / ".covey" / NOTEBOOK)


def test_a_visit_waits_until_another_process_has_left(desk: Desk) -> None:
    with child(VISITING, str(desk.root), desk.layout) as other:
        assert other.line() == "in"
        with pytest.raises(StoreBusy):
            finish(desk.folder.visit(0.05).__aenter__())
        other.say("go")
        assert desk.look().arrived == []
        assert other.line() == "out"


def test_a_killed_visitor_releases_its_turn(desk: Desk) -> None:
    with child(VISITING, str(desk.root), desk.layout) as other:
        assert other.line() == "in"
        other.kill()
    assert desk.look().arrived == []


def test_a_timed_out_visit_leaves_no_lock(desk: Desk) -> None:
    with child(VISITING, str(desk.root), desk.layout) as other:
        assert other.line() == "in"
        for _ in range(3):
            with pytest.raises(StoreBusy):
                finish(desk.folder.visit(0.01).__aenter__())
        other.say("go")
        assert other.line() == "out"
    third = Desk(desk.root, desk.layout)
    assert third.look().arrived == []
    third.close()


def test_two_processes_take_turns_and_neither_takes_the_others_files_for_foreign_ones(desk: Desk) -> None:
    with (
        child(SENDING, str(desk.root), desk.layout, "100") as one,
        child(SENDING, str(desk.root), desk.layout, "200") as other,
    ):
        for each in (one, other):
            assert each.line() == "ready"
        for each in (one, other):
            each.say("go")
        for each in (one, other):
            assert each.line() == "done"
    assert len(desk.files()) == 50
    assert desk.look() == FolderChanges([], [], None, [], is_more=False)
    lines = [json.loads(line)["id"] for line in (desk.root / "manifest.jsonl").read_text().splitlines()]
    assert sorted(lines) == [*range(100, 125), *range(200, 225)]


def test_a_failed_visit_releases_its_turn(desk: Desk) -> None:
    async def fail(visit: Visit) -> None:
        raise RuntimeError("in the middle")

    for _ in range(2):
        with pytest.raises(RuntimeError):
            desk.during(fail)
    assert desk.look().arrived == []


def test_a_closed_folder_can_not_be_visited(desk: Desk) -> None:
    desk.close()
    with pytest.raises(StoreClosed):
        desk.look()
    assert desk.folder.has_news()


def test_news_can_be_asked_for_during_a_visit(desk: Desk) -> None:
    desk.settle()

    async def ask(visit: Visit) -> bool:
        desk.put(desk.spot(1), content(1))
        return desk.folder.has_news()

    assert desk.during(ask)


@pytest.mark.parametrize("layout", Layout)
def test_a_short_lived_program_loads_no_event_loop_and_no_threads(tmp_path: Path, layout: Layout) -> None:
    desk = Desk(tmp_path / "shared", layout)
    desk.bring(desk.sheet(1))
    desk.close()
    said = subprocess.run(
        [sys.executable, "-c", LOOKING, str(desk.root), layout],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
        cwd=ROOT,
    )
    arrived, modules = json.loads(said.stdout)
    assert arrived == 0
    assert [name for name in NEVER.split() if name in modules] == []


# The notebook may be lost.


@pytest.mark.parametrize("loss", ["deleted", "cut", "overwritten", "empty", "other-form"])
def test_a_lost_or_damaged_notebook_is_created_again(desk: Desk, loss: str) -> None:
    desk.bring(desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE))
    desk.close()
    path = Path(notebook(desk))
    match loss:
        case "deleted":
            throw_away(str(path))
        case "cut":
            path.write_bytes(path.read_bytes()[:5000])
        case "overwritten":
            path.write_bytes(b"x" * 10_000)
        case "empty":
            path.write_bytes(b"")
        case _:
            other = apsw.Connection(str(path))
            cursor: Any = other.cursor()
            cursor.execute("pragma user_version = 99")
            other.close()
    desk.reopen()
    assert desk.folder.has_news()
    assert {arrived.content for arrived in desk.look().arrived} == {content(1), content(2)}
    desk.bring(desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE))
    assert desk.look().arrived == []
    assert len(desk.files()) == 2


def test_a_notebook_that_is_deleted_while_open_is_created_again(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    other = Desk(desk.root, desk.layout)
    other.settle()
    throw_away(notebook(desk))
    for each in (desk, other):
        assert each.folder.has_news()
        assert [arrived.content for arrived in each.look().arrived] == [content(1)]
    other.bring(desk.sheet(1))
    assert desk.look().arrived == []
    other.close()


def test_a_damaged_notebook_is_distinguished_from_an_intact_one_and_a_missing_one(desk: Desk) -> None:
    assert not is_damaged(notebook(desk))
    desk.look()
    assert not is_damaged(notebook(desk))
    desk.close()
    Path(notebook(desk)).write_bytes(b"nothing of the kind" * 1000)
    assert is_damaged(notebook(desk))


# Many files.


def test_a_large_archive_does_not_slow_a_look_down(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 archived messages are taken in once, up to the limit of each look.

    Later looks read only the pending files.
    """
    desk = Desk(quick / "shared", Layout.DIALOGUE)
    folder = desk.path(desk.spot(0, Shelf.ARCHIVE)).parent
    folder.mkdir(parents=True)
    for n in range(20_000):
        descriptor = os.open(f"{folder}/{message_id(n)}.json", os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b'{"n": %d}' % n)
        os.close(descriptor)
    taken = 0
    while (sighting := desk.take_in(limit=5000)).is_more:
        taken += len(sighting.arrived)
    assert taken + len(sighting.arrived) == 20_000
    desk.bring(*(desk.sheet(100_000 + n) for n in range(10)))
    desk.settle()
    listed: list[str] = []
    statuses = 0
    scan, status = os.scandir, os.lstat

    def scandir(path: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        listed.append(str(path))
        return scan(path)

    def lstat(path: str) -> os.stat_result:
        nonlocal statuses
        statuses += 1
        return status(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(os, "lstat", lstat)
    desk.path(desk.spot(100_000)).parent.touch()
    desk.look(ALL)
    assert listed, "it looked at nothing"
    assert str(folder) not in listed, "a look went through the archive"
    assert statuses < 1000, "a look asked for each file of the archive"
    desk.close()


class TellsOfNews(OpenCommitGate):
    """A gate that checks the folder for news as soon as a visit is announced."""

    def __init__(self) -> None:
        self.folder: FilesFolder | None = None
        self.found: list[bool] = []

    def tell(self) -> None:
        assert self.folder is not None
        self.found.append(self.folder.has_news())


def test_a_process_that_hears_of_a_visit_finds_nothing_left_to_do(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "RACY_NS", 10**12)  # independent of the speed of this machine
    gate = TellsOfNews()
    gate.folder = desk.folder = FilesFolder(str(desk.root), desk.layout, gate=gate)

    async def send(visit: Visit, n: int) -> None:
        await visit.look(ALL)
        await visit.bring([desk.sheet(n)])
        await visit.advance(n)

    for n in (1, 2, 3):
        desk.during(partial(send, n=n))
    made, *later = gate.found  # the first visit made the inbox, which is listed once more
    assert (made, later) == (True, [False, False])
