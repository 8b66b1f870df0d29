"""The checkup of a shared folder: every kind of fault has its code, and the examination changes nothing."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from covey.adapters.folder.care import SharedFolderCheckup
from covey.adapters.folder.locks import STALE_S
from covey.adapters.folder.notebook.database import NOTEBOOK
from covey.core.care.finding import Examination, Finding
from covey.core.coroutine import finish
from covey.core.formats.layout import Layout, Shelf
from covey.core.identity import Grade, Identity
from covey.core.limits import MAX_PAPER_BYTES
from covey.core.names import OPERATOR
from covey.ports.folder import Visit
from tests.adapters.children import child
from tests.adapters.folder.desk import ALL, Desk, content

ACTOR = Identity(OPERATOR, None, Grade.CLAIMED)


def checkup(desk: Desk) -> SharedFolderCheckup:
    return SharedFolderCheckup(str(desk.root), desk.layout)


def examine(desk: Desk) -> Examination:
    def tell(_done: int, _all: int | None) -> None:
        return

    return finish(checkup(desk).examine(thorough=True, tell=tell))


def found(desk: Desk) -> Mapping[str, Sequence[str]]:
    """Return the items of each finding, by its code."""
    return {finding.code: finding.items for finding in examine(desk).findings}


def mend(desk: Desk, findings: Sequence[Finding]) -> None:
    finish(checkup(desk).mend(findings, ACTOR))


def everything(root: Path) -> Mapping[str, tuple[int, int]]:
    """Return inode and change time of all files in a folder, so that any change can be detected."""
    statuses = {str(path): path.lstat() for path in root.rglob("*") if ".covey" not in path.parts}
    return {path: (status.st_ino, status.st_ctime_ns) for path, status in statuses.items()}


def test_a_folder_in_order_is_healthy(desk: Desk) -> None:
    desk.bring(desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE))
    desk.during(lambda visit: visit.append([(1, "{}")], 1))
    desk.settle()
    examination = examine(desk)
    assert examination.findings == ()
    assert examination.summary == f"2 files of messages, {desk.layout} layout"


def test_a_folder_without_a_visit_is_healthy(desk: Desk) -> None:
    assert examine(desk).findings == ()
    assert not (desk.root / ".covey" / NOTEBOOK).exists()


def test_every_kind_of_junk_has_its_code_before_and_after_a_visit_and_nothing_is_changed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = desk.put(desk.spot(1), b"no message").parent
    suffix = ".json" if desk.layout is Layout.DIALOGUE else ".msg.json"
    (folder / f"link{suffix}").symlink_to("/etc/passwd")
    os.mkfifo(folder / f"pipe{suffix}")
    with (folder / f"huge{suffix}").open("wb") as file:
        file.truncate(MAX_PAPER_BYTES + 1)
    (folder / "notes.txt").write_text("x")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff" + suffix.encode())).write_text("{}")
    leftover = folder / ".covey-00.tmp"
    leftover.write_text("{")
    os.utime(leftover, (1, 1))
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3)  # old enough to be judged
    before = everything(desk.root)
    place = str(folder.relative_to(desk.root))
    unparsed = f"{place}/{desk.spot(1).name}: "
    codes = {
        "folder-file-link": (f"{place}/link{suffix}",),
        "folder-file-special": (f"{place}/pipe{suffix}",),
        "folder-file-large": (f"{place}/huge{suffix}",),
        "folder-file-stray": (f"{place}/notes.txt",),
        "folder-file-misnamed": (f"{place}/\\udcff{suffix}",),
        "folder-leftovers": (f"{place}/.covey-00.tmp",),
    }
    unseen = found(desk)
    assert everything(desk.root) == before

    async def set_aside(visit: Visit) -> None:
        for arrived in (await visit.look(ALL)).arrived:
            await visit.set_aside(arrived.spot, arrived.digest, "it is no JSON")

    desk.during(set_aside)
    seen = dict(found(desk))
    for items in (unseen, seen):
        (problem,) = items["folder-file-unparsed"]
        assert problem.startswith(unparsed)
    assert {code: items for code, items in unseen.items() if code != "folder-file-unparsed"} == codes
    del codes["folder-leftovers"]  # the visit has removed it
    assert {code: items for code, items in seen.items() if code != "folder-file-unparsed"} == codes


def test_an_unusable_folder_is_an_error(desk: Desk) -> None:
    folder = desk.path(desk.spot(1)).parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")
    desk.bring(desk.sheet(1))
    assert found(desk)["folder-hindered"] == (str(folder.relative_to(desk.root)),)


def test_missing_files_are_named(desk: Desk) -> None:
    desk.bring(desk.sheet(1), desk.sheet(2))
    desk.settle()
    path = desk.path(desk.spot(1))
    path.unlink()
    assert found(desk) == {"folder-file-missing": (str(path.relative_to(desk.root)),)}
    desk.bring(desk.sheet(1))
    assert found(desk) == {}


def test_a_folder_that_is_gone_is_an_error(desk: Desk) -> None:
    away = desk.root.rename(desk.root.with_name("away"))
    assert list(found(desk)) == ["folder-unusable"]
    away.rename(desk.root)


def test_leftovers_are_removed(desk: Desk) -> None:
    folder = desk.put(desk.spot(1), content(1)).parent
    ours, theirs = folder / ".covey-00.tmp", folder / ".theirs.tmp"
    for path in (ours, theirs):
        path.write_text("{")
        os.utime(path, (1, 1))
    findings = [finding for finding in examine(desk).findings if finding.code == "folder-leftovers"]
    mend(desk, findings)
    assert (ours.exists(), theirs.exists()) == (False, True)
    mend(desk, findings)


def test_torn_lines_of_the_manifest_are_counted(dialogue: Desk) -> None:
    (dialogue.root / "manifest.jsonl").write_text('{"event": "sent"}\n{"eve\n\n{"event": "archived"}\n{"ev')
    (finding,) = examine(dialogue).findings
    assert (finding.code, finding.what) == ("manifest-torn", "2 lines of manifest.jsonl can't be read")


def test_a_stale_lock_is_removed_and_a_held_one_is_not(dialogue: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = dialogue.root / "manifest.jsonl.lock"
    with child("import sys; sys.stdin.read()") as holder:
        lock.write_text(str(holder.pid))
        assert found(dialogue) == {}
        holder.kill()
    (finding,) = examine(dialogue).findings
    assert finding.code == "manifest-lock-stale"
    mend(dialogue, [finding])
    assert not lock.exists()
    lock.write_text("")
    assert found(dialogue) == {}
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + STALE_S + 1)
    assert list(found(dialogue)) == ["manifest-lock-stale"]


def test_a_broken_registry_is_reported_until_its_copy_is_removed(mailbox: Desk) -> None:
    registry = mailbox.root / "_registry.json"
    registry.write_text("{broken")
    assert found(mailbox) == {"registry-broken": ("_registry.json",)}
    mailbox.during(lambda visit: visit.register({"bob": {"agent_id": "bob"}}))
    (broken,) = found(mailbox)["registry-broken"]
    assert broken.startswith("_registry.json.broken-")
    (mailbox.root / broken).unlink()
    assert found(mailbox) == {}


def test_a_damaged_notebook_is_discarded(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.close()
    path = desk.root / ".covey" / NOTEBOOK
    path.write_bytes(b"damaged" * 1000)
    (finding,) = [finding for finding in examine(desk).findings if finding.code == "notebook-damaged"]
    assert path.read_bytes().startswith(b"damaged")
    mend(desk, [finding])
    assert not path.exists()
    desk.reopen()
    assert len(desk.look().arrived) == 1
