"""Bringing files in line: each is written, moved or left, always completely, and never over a foreign file."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from covey.adapters.folder import atomic
from covey.adapters.folder.entries import digest_of
from covey.adapters.folder.notebook.database import NOTEBOOK
from covey.adapters.folder.notebook.notebook import Notebook
from covey.core.coroutine import finish
from covey.core.formats.layout import Layout, Shelf
from covey.ports.folder import DepartedFile, FolderChanges, Setback, Visit
from tests.adapters.folder.desk import ALL, Desk, age, content, message_id

OTHER = b'{"somebody": "else"}'


def test_a_missing_file_is_written_with_its_folders_for_its_owner_alone(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    path = desk.path(desk.spot(1))
    assert path.read_bytes() == content(1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert desk.temporaries() == []


def test_files_are_at_the_paths_that_the_seeds_define(tmp_path: Path) -> None:
    for layout, paths in {
        Layout.DIALOGUE: ["archive/by-task/M001/{3}.json", "archive/{2}.json", "inbox/bob/{1}.json"],
        Layout.MAILBOX: ["bob/inbox/{1}.msg.json", "bob/processed/{2}.msg.json", "bob/processed/{3}.msg.json"],
    }.items():
        desk = Desk(tmp_path / layout, layout)
        desk.bring(desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE), desk.sheet(3, Shelf.SWEPT, scope="M001"))
        assert sorted(desk.files()) == sorted(path.format("", *map(message_id, (1, 2, 3))) for path in paths)
        desk.close()


def test_a_file_at_another_place_is_moved_and_stays_the_same_file(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    inode = desk.path(desk.spot(1)).stat().st_ino
    desk.bring(desk.sheet(1, Shelf.ARCHIVE))
    assert desk.path(desk.spot(1, Shelf.ARCHIVE)).stat().st_ino == inode
    assert len(desk.files()) == 1
    assert desk.during(lambda visit: visit.copies(message_id(1))) == [desk.known(1, Shelf.ARCHIVE)]


def test_a_foreign_file_is_moved_unchanged(desk: Desk) -> None:
    desk.put(desk.spot(1), OTHER)
    known = desk.known(1)._replace(is_ours=False)

    async def take(visit: Visit) -> None:
        (arrived,) = (await visit.look(ALL)).arrived
        await visit.note([known], {arrived.spot: arrived.digest})

    desk.during(take)
    sheet = desk.sheet(1, Shelf.ARCHIVE)
    desk.bring(sheet._replace(known=sheet.known._replace(is_ours=False)))
    assert list(desk.files().values()) == [OTHER]
    assert desk.look().arrived == []
    desk.path(desk.spot(1, Shelf.ARCHIVE)).unlink()
    desk.bring(sheet)
    assert list(desk.files().values()) == [content(1)]


def test_a_file_in_its_place_is_left_and_not_read(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    path = desk.path(desk.spot(1))
    before = path.stat()
    desk.bring(desk.sheet(1)._replace(content=OTHER))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.read_bytes() == content(1)


def test_bringing_twice_changes_nothing(desk: Desk) -> None:
    sheets = desk.sheet(1), desk.sheet(2, Shelf.ARCHIVE), desk.sheet(3, Shelf.SWEPT, scope="M001")
    desk.bring(*sheets)
    files = desk.files()
    desk.bring(*sheets)
    assert desk.files() == files
    assert desk.look().left == []


def test_another_file_with_the_name_stays_and_a_free_name_is_taken(desk: Desk) -> None:
    there = desk.put(desk.spot(1), OTHER)
    desk.bring(desk.sheet(1))
    assert there.read_bytes() == OTHER
    (copy,) = desk.during(lambda visit: visit.copies(message_id(1)))
    assert copy.spot.name != there.name
    assert desk.path(copy.spot).read_bytes() == content(1)
    assert copy.spot.name.removesuffix(".msg.json").removesuffix(".json") == f"{message_id(1)}-2"
    (arrived,) = desk.look().arrived
    assert arrived.content == OTHER


def test_another_file_with_the_name_in_the_archive_stays_too(desk: Desk) -> None:
    there = desk.put(desk.spot(1, Shelf.ARCHIVE), OTHER)
    desk.bring(desk.sheet(1))
    desk.bring(desk.sheet(1, Shelf.ARCHIVE))
    assert there.read_bytes() == OTHER
    assert sorted(desk.files().values()) == sorted([OTHER, content(1)])
    assert "inbox" not in {copy.spot.shelf for copy in desk.during(lambda visit: visit.copies(message_id(1)))}


def test_an_identical_file_is_adopted_as_ours(desk: Desk) -> None:
    desk.put(desk.spot(1), content(1))
    desk.bring(desk.sheet(1))
    assert len(desk.files()) == 1
    assert desk.look().arrived == []


def test_one_batch_uses_no_name_twice(desk: Desk) -> None:
    sheets = [desk.sheet(n) for n in (1, 2, 3)]
    spot = desk.spot(1)
    desk.bring(*(sheet._replace(known=sheet.known._replace(spot=spot)) for sheet in sheets))
    assert sorted(desk.files().values()) == sorted(content(n) for n in (1, 2, 3))


def test_a_copy_that_a_foreign_program_made_is_archived_with_the_message(desk: Desk) -> None:
    """A foreign program may move a file by a copy and a removal; the removal may still be to come."""
    desk.bring(desk.sheet(1))
    desk.put(desk.spot(1, Shelf.ARCHIVE), content(1))
    desk.during(lambda visit: visit.note([desk.known(1, Shelf.ARCHIVE)], {}))
    assert len(desk.files()) == 2
    desk.bring(desk.sheet(1, Shelf.ARCHIVE))
    assert len(desk.files()) == 1
    assert desk.look().left == []


def test_many_files_are_brought_in_one_batch(desk: Desk) -> None:
    desk.bring(*(desk.sheet(n, owner=f"agent{n % 7}") for n in range(200)))
    assert len(desk.files()) == 200
    desk.bring(*(desk.sheet(n, Shelf.ARCHIVE, owner=f"agent{n % 7}") for n in range(200)))
    assert len(desk.files()) == 200
    assert not any("inbox" in path for path in desk.files())
    assert desk.look().left == []


def test_a_link_in_place_of_a_folder_is_not_followed_and_blocks_no_other_folder(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = desk.path(desk.spot(1)).parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(elsewhere)
    desk.bring(desk.sheet(1), desk.sheet(2, owner="anna"))
    assert list(elsewhere.iterdir()) == []
    assert len(desk.files()) == 1
    assert str(folder.relative_to(desk.root)) in [setback.path for setback in _setbacks(desk)]
    assert desk.look().left == []
    folder.unlink()
    assert desk.folder.has_news()
    assert desk.look().left == [DepartedFile(desk.known(1), None)]
    desk.bring(desk.sheet(1))
    assert len(desk.files()) == 2
    desk.look()
    assert _setbacks(desk) == []


def test_a_file_in_place_of_the_archive_blocks_no_other_folder(dialogue: Desk) -> None:
    (dialogue.root / "archive").write_text("me")
    dialogue.bring(dialogue.sheet(1), dialogue.sheet(2, Shelf.ARCHIVE), dialogue.sheet(3, Shelf.SWEPT, scope="M1"))
    assert len(dialogue.files()) == 1
    (dialogue.root / "archive").unlink()
    left = [left.known.message_id for left in dialogue.look().left]
    assert sorted(left) == [message_id(2), message_id(3)]
    dialogue.bring(dialogue.sheet(2, Shelf.ARCHIVE), dialogue.sheet(3, Shelf.SWEPT, scope="M1"))
    assert len(dialogue.files()) == 3


def _setbacks(desk: Desk) -> Sequence[Setback]:
    return finish(desk.folder.setbacks())


def test_an_unknown_foreign_file_is_searched_for_before_it_is_written_again(desk: Desk) -> None:
    """The process that noted the file died before it recorded that, and the file's writer has moved the file since."""
    desk.settle()
    sheet = desk.sheet(1)
    foreign = sheet._replace(known=sheet.known._replace(is_ours=False))
    there = desk.put(desk.spot(7, Shelf.ARCHIVE), OTHER)
    desk.bring(foreign)
    assert desk.files() == {str(there.relative_to(desk.root)): OTHER}
    assert desk.folder.has_news()
    sighting = desk.look()
    assert [arrived.content for arrived in sighting.arrived] == [OTHER]
    assert sighting.left == [DepartedFile(foreign.known, None)]
    desk.bring(foreign)  # the found file was a different one
    assert sorted(desk.files().values()) == sorted([OTHER, content(1)])


def test_a_second_file_of_ours_is_removed_when_the_first_one_is_found(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.put(desk.spot(1, Shelf.ARCHIVE), OTHER)
    known = desk.known(1, Shelf.ARCHIVE)._replace(is_ours=False)
    desk.during(lambda visit: visit.note([known], {known.spot: digest_of(OTHER)}))
    desk.bring(desk.sheet(1, Shelf.ARCHIVE))
    assert list(desk.files().values()) == [OTHER]
    assert desk.look().left == []


def test_a_file_that_is_moved_right_after_it_was_written_is_not_written_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = atomic.name_all

    def write_and_lose(files: Sequence[tuple[str, bytes]], one: Callable[[], None], other: Callable[[], None]) -> None:
        real(files, one, other)
        desk.move(desk.spot(1), desk.spot(1, Shelf.ARCHIVE))

    monkeypatch.setattr(atomic, "name_all", write_and_lose)
    desk.bring(desk.sheet(1))
    monkeypatch.undo()
    desk.bring(desk.sheet(1))
    assert list(desk.files()) == [str(desk.path(desk.spot(1, Shelf.ARCHIVE)).relative_to(desk.root))]
    age(desk.path(desk.spot(1)).parent)
    assert desk.look().left == [DepartedFile(desk.known(1), desk.spot(1, Shelf.ARCHIVE))]


def test_a_file_of_a_killed_writer_that_was_moved_is_reported_with_its_new_place(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    book = Notebook(str(desk.root / ".covey" / NOTEBOOK))
    book.put(each._replace(stamp="") for each in book.by_message(message_id(1)))
    book.close()
    desk.move(desk.spot(1), desk.spot(1, Shelf.ARCHIVE))
    moved = DepartedFile(desk.known(1), desk.spot(1, Shelf.ARCHIVE))
    assert desk.look().left == [moved]
    desk.bring(desk.sheet(1))
    assert len(desk.files()) == 1
    desk.during(lambda visit: visit.note([moved.known._replace(spot=desk.spot(1, Shelf.ARCHIVE))], {}))
    assert desk.look() == FolderChanges([], [], None, [], is_more=False)
