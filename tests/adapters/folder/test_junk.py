"""Junk of all kinds: it stays in place, is never followed, is reported to people, and blocks nothing."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.adapters.folder.notebook.records import EVERY_S
from covey.core.coroutine import finish
from covey.core.formats.layout import Layout, Shelf
from covey.core.limits import MAX_PAPER_BYTES
from covey.ports.folder import Setback
from tests.adapters.folder.desk import Desk, content


def make_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_dead_link(path: Path) -> None:
    path.symlink_to("/nowhere")


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "deep.json").write_text("{}")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # socket paths must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_PAPER_BYTES + 1)


JUNK: dict[str, Callable[[Path], None]] = {
    "link": make_link,
    "dead-link": make_dead_link,
    "folder": make_folder,
    "pipe": make_pipe,
    "socket": make_socket,
    "huge": make_huge,
}

ALPHABETS = [
    "письмо",
    "消息",
    "رسالة",
    "संदेश",
    "e\u0301te\u0301",
    "été",
    "🦆",
    "a b",
    "-rf",
    "~",
    "%s",
    "'; --",
    "x" * 200,
]


def setbacks(desk: Desk) -> list[Setback]:
    return list(finish(desk.folder.setbacks()))


@pytest.mark.parametrize("shelf", [Shelf.INBOX, Shelf.ARCHIVE])
@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_set_aside_and_everything_else_goes_on(desk: Desk, kind: str, shelf: Shelf) -> None:
    path = desk.path(desk.spot(1, shelf))
    path.parent.mkdir(parents=True)
    JUNK[kind](path)
    desk.put(desk.spot(2, shelf), content(2))
    sighting = desk.take_in()
    assert [arrived.spot for arrived in sighting.arrived] == [desk.spot(2, shelf)]
    assert [setback.path for setback in setbacks(desk)] == [str(path.relative_to(desk.root))]
    assert setbacks(desk)[0].problem
    assert os.path.lexists(path)
    desk.settle()
    assert not desk.folder.has_news()
    path.rename(desk.root / ".away")
    desk.put(desk.spot(1, shelf), content(1))
    if shelf is Shelf.INBOX:
        assert desk.folder.has_news()
        assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(1)]
        assert setbacks(desk) == []


@pytest.mark.parametrize("kind", sorted(JUNK.keys() - {"folder"}))
def test_junk_among_the_folders_of_agents_is_left_alone(desk: Desk, kind: str) -> None:
    path = desk.path(desk.spot(1, owner="junk")).parent
    while path.parent.name not in ("inbox", "shared"):
        path = path.parent
    path.parent.mkdir(parents=True, exist_ok=True)
    JUNK[kind](path)
    desk.put(desk.spot(2), content(2))
    assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(2)]
    desk.settle()
    assert not desk.folder.has_news()
    desk.bring(desk.sheet(3), desk.sheet(4, owner="junk"))
    assert desk.path(desk.spot(3)).exists()


@pytest.mark.parametrize("name", ALPHABETS)
def test_names_in_every_alphabet_are_valid(desk: Desk, name: str) -> None:
    suffix = ".json" if desk.layout is Layout.DIALOGUE else ".msg.json"
    spot = desk.spot(1, owner=name)._replace(name=f"{name}{suffix}")
    desk.put(spot, content(1))
    sighting = desk.take_in()
    assert [arrived.spot for arrived in sighting.arrived] == [spot]
    assert sighting.owners == [name]
    assert desk.look().arrived == []
    assert setbacks(desk) == []


def test_a_name_that_is_not_valid_text_is_set_aside(desk: Desk) -> None:
    folder = os.fsencode(desk.put(desk.spot(1), content(1)).parent)
    suffix = b".json" if desk.layout is Layout.DIALOGUE else b".msg.json"
    bad = folder + b"/\xff\xfe" + suffix
    Path(os.fsdecode(bad)).write_bytes(content(2))
    above = os.fsdecode(folder)
    while Path(above).parent.name not in ("inbox", "shared"):
        above = str(Path(above).parent)
    owner = Path(os.fsdecode(os.fsencode(Path(above).parent) + b"/\xc3\x28"))
    owner.mkdir()
    assert [arrived.spot for arrived in desk.take_in().arrived] == [desk.spot(1)]
    assert len(setbacks(desk)) == 2
    for setback in setbacks(desk):
        setback.path.encode()
    desk.settle()
    assert not desk.folder.has_news()
    Path(os.fsdecode(bad)).unlink()
    owner.rmdir()
    desk.take_in()
    assert setbacks(desk) == []


@pytest.mark.parametrize("name", ["notes.txt", "README", "1.json.bak", "x.JSON"])
def test_a_file_without_a_message_name_is_not_read(desk: Desk, name: str) -> None:
    path = desk.put(desk.spot(1), content(1)).with_name(name)
    path.write_bytes(content(2))
    assert len(desk.take_in().arrived) == 1
    assert [setback.path for setback in setbacks(desk)] == [str(path.relative_to(desk.root))]


@pytest.mark.parametrize("name", [".hidden.json", ".covey-abc.tmp", "message.json.tmp", ".DS_Store"])
def test_hidden_and_temporary_files_are_ignored(desk: Desk, name: str) -> None:
    desk.put(desk.spot(1), content(1)).with_name(name).write_bytes(b"{")
    assert len(desk.take_in().arrived) == 1
    assert setbacks(desk) == []


def test_leftovers_of_our_killed_writers_are_removed_after_a_minute_and_foreign_ones_are_not(desk: Desk) -> None:
    folder = desk.put(desk.spot(1), content(1)).parent
    ours, young, theirs = (folder / name for name in (".covey-0a.tmp", ".covey-0b.tmp", ".theirs.tmp"))
    for path in (ours, young, theirs):
        path.write_bytes(b"{")
    for path in (ours, theirs):
        before = path.stat().st_mtime - EVERY_S - 1
        os.utime(path, (before, before))
    desk.look()
    assert (ours.exists(), young.exists(), theirs.exists()) == (False, True, True)


def test_other_files_beside_the_mailboxes_are_ignored(mailbox: Desk) -> None:
    (mailbox.root / "README.md").write_text("hello")
    (mailbox.root / "data").mkdir()
    (mailbox.root / "_registry.json.bak").write_text("{}")
    mailbox.put(mailbox.spot(1), content(1))
    sighting = mailbox.take_in()
    assert (len(sighting.arrived), sighting.owners) == (1, ["bob"])
    assert setbacks(mailbox) == []


def test_stray_entries_among_the_tasks_are_set_aside(dialogue: Desk) -> None:
    dialogue.put(dialogue.spot(1, Shelf.SWEPT, scope="M001"), content(1))
    swept = dialogue.root / "archive" / "by-task"
    (swept / "notes").write_text("x")
    (swept / "link").symlink_to("/etc")
    (dialogue.root / "archive" / "folder").mkdir()
    assert [arrived.spot.scope for arrived in dialogue.take_in().arrived] == ["M001"]
    assert [setback.path for setback in setbacks(dialogue)] == [
        "archive/by-task/link",
        "archive/by-task/notes",
        "archive/folder",
    ]


def test_a_thousand_junk_files_do_not_stop_one_message(desk: Desk) -> None:
    folder = desk.path(desk.spot(1)).parent
    folder.mkdir(parents=True)
    for n in range(1000):
        (folder / f"junk-{n}").write_bytes(b"")
    desk.put(desk.spot(1), content(1))
    assert len(desk.take_in().arrived) == 1
    assert len(setbacks(desk)) == 1000
    desk.settle()
    assert not desk.folder.has_news()
