"""Turns: the holder of a turn writes down its intent, and the next holder finds it even if the first one died."""

from pathlib import Path

import pytest

from covey.adapters.folder.folder import FilesFolder
from covey.adapters.folder.locks import FolderTurn, take_turn
from covey.core.formats.layout import Shelf
from covey.ports.folder import DepartedFile, FolderChanges, Visit, WantedFile
from tests.adapters.folder.desk import ALL, Desk, content

LIMIT_S = 10.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "mirror.lock")


def left_by(path: str, *intents: bytes) -> FolderTurn:
    """Write these intents in a turn without clearing them. Return the next turn."""
    turn = take_turn(path, LIMIT_S)
    for intent in intents:
        turn.write(intent)
    turn.end()
    return take_turn(path, LIMIT_S)


@pytest.mark.parametrize("size", [1, 100, 4087, 4088, 4096, 100_000])
def test_an_intent_is_there_for_the_next_turn(path: str, size: int) -> None:
    turn = left_by(path, b"x" * 200_000, b"y" * size)
    assert turn.read() == b"y" * size
    turn.end()


def test_a_completed_intent_is_cleared(path: str) -> None:
    turn = left_by(path, b"something")
    assert turn.read() == b"something"
    turn.clear()
    assert turn.read() is None
    turn.end()
    turn = take_turn(path, LIMIT_S)
    assert turn.read() is None
    turn.end()


def test_a_turn_without_an_earlier_intent_finds_none(path: str) -> None:
    turn = take_turn(path, LIMIT_S)
    assert turn.read() is None
    turn.clear()
    assert Path(path).read_bytes() == b""
    turn.end()


@pytest.mark.parametrize("written", [1, 8, 9, 4096])
def test_an_incomplete_intent_is_ignored(path: str, written: int) -> None:
    """The writer died before it acted on the intent."""
    left_by(path, b"old" * 3000).end()
    whole = Path(path).read_bytes()
    left_by(path, b"new" * 3000).end()
    Path(path).write_bytes(Path(path).read_bytes()[:written] + whole[written:])
    turn = take_turn(path, LIMIT_S)
    assert turn.read() is None
    turn.end()


class Killed(BaseException):
    """Stands for the death of the process."""


def dies_after_bringing(desk: Desk, *sheets: WantedFile) -> None:
    """Bring files as another process, which dies before it records them."""
    ours, desk.folder = desk.folder, FilesFolder(str(desk.root), desk.layout)

    async def run(visit: Visit) -> None:
        await visit.look(ALL)
        await visit.bring(sheets)
        raise Killed

    with pytest.raises(Killed):
        desk.during(run)
    desk.close()
    desk.folder = ours


def test_the_file_of_a_killed_writer_is_recognized_as_ours(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    dies_after_bringing(desk, desk.sheet(2))
    assert desk.look() == FolderChanges([], [], None, [])
    desk.bring(desk.sheet(2))
    assert sorted(desk.files().values()) == [content(1), content(2)]


def test_the_file_of_a_killed_writer_is_found_after_a_foreign_program_moved_it(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    dies_after_bringing(desk, desk.sheet(2))
    desk.move(desk.spot(2), desk.spot(2, Shelf.ARCHIVE))
    assert desk.look().left == [DepartedFile(desk.known(2), desk.spot(2, Shelf.ARCHIVE))]
    desk.bring(desk.sheet(2))
    assert len(desk.files()) == 2


def test_the_missing_file_of_a_killed_writer_is_brought_again(desk: Desk) -> None:
    dies_after_bringing(desk, desk.sheet(1), desk.sheet(2))
    desk.path(desk.spot(2)).unlink()
    assert desk.look().left == [DepartedFile(desk.known(2), None)]
    desk.bring(desk.sheet(2))
    assert sorted(desk.files().values()) == [content(1), content(2)]
    assert desk.look().left == []


def test_an_intent_of_another_version_causes_a_full_look(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    turn = take_turn(str(desk.root / ".covey" / "mirror.lock"), LIMIT_S)
    turn.write(b'{"strange": 1}')
    turn.end()
    desk.put(desk.spot(2, Shelf.ARCHIVE), content(2))
    assert [arrived.content for arrived in desk.look().arrived] == [content(2)]
