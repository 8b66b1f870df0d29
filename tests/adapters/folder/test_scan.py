"""Looking: every foreign change is reported until it is processed, and none of our own changes is reported."""

import os
import time
from pathlib import Path

import pytest

from covey.adapters.folder.entries import FolderMark
from covey.adapters.folder.notebook.database import NOTEBOOK
from covey.adapters.folder.notebook.notebook import Notebook
from covey.adapters.folder.notebook.records import DEEP, EVERY_S, FolderSort
from covey.adapters.folder.scan.scan import AFTER_OWN_S
from covey.core.errors import Invalid
from covey.core.formats.layout import FilePlace, KnownFile, Shelf
from covey.core.names import AgentName, MessageId
from covey.ports.folder import DepartedFile, FolderChanges, Visit
from tests.adapters.folder.desk import ALL, Desk, age, content, message_id, note

JSON = b'{"from": "anna", "body": "hello"}'
NOTHING = FolderChanges([], [], None, [], is_more=False)
MUCH_LATER_S = AFTER_OWN_S + EVERY_S


def notebook(desk: Desk) -> Notebook:
    return Notebook(str(desk.root / ".covey" / NOTEBOOK))


def a_minute_later(desk: Desk, seconds: float = EVERY_S) -> None:
    """Set the times of the last full look back by `seconds`."""
    book = notebook(desk)
    book.put_marks({DEEP: str(float(book.mark(DEEP)) - seconds)})
    for folder, *mark in book.ask("folders", FolderSort.HISTORY):
        book.leave(folder, FolderSort.HISTORY, FolderMark(*mark), book.folder(folder)[1] - seconds)
    book.close()
    desk.reopen()


def names(sighting: FolderChanges) -> list[str]:
    return [arrived.spot.name for arrived in sighting.arrived]


def test_an_empty_folder_reports_nothing(desk: Desk) -> None:
    assert desk.look() == NOTHING


def test_a_new_file_is_reported_with_its_content_and_time(desk: Desk) -> None:
    path = desk.put(desk.spot(1), content(1))
    (arrived,) = desk.look().arrived
    assert arrived.spot == desk.spot(1)
    assert arrived.content == content(1)
    assert arrived.written_at == path.stat().st_mtime
    assert len(arrived.digest) == 64


def test_a_file_is_reported_until_it_is_noted(desk: Desk) -> None:
    desk.put(desk.spot(1), content(1))
    assert names(desk.look()) == names(desk.look()) != []
    desk.note(desk.look())
    assert desk.look().arrived == []


def test_a_file_is_reported_until_it_is_set_aside_and_then_again_when_it_changes(desk: Desk) -> None:
    path = desk.put(desk.spot(1), b'{"wrong": true}')

    async def set_aside(visit: Visit) -> None:
        (arrived,) = (await visit.look(ALL)).arrived
        await visit.set_aside(arrived.spot, arrived.digest, "it says nothing")

    desk.during(set_aside)
    desk.settle()
    assert not desk.folder.has_news()
    assert desk.look().arrived == []
    path.write_bytes(JSON)
    assert desk.folder.has_news()
    (arrived,) = desk.look().arrived
    assert arrived.content == JSON


def test_a_known_file_with_new_content_is_reported(desk: Desk) -> None:
    desk.put(desk.spot(1), content(1))
    desk.settle()
    desk.put(desk.spot(1), JSON)
    (arrived,) = desk.look().arrived
    assert arrived.content == JSON


def test_a_known_file_that_is_touched_or_rewritten_with_the_same_content_is_not_reported(desk: Desk) -> None:
    path = desk.put(desk.spot(1), content(1))
    desk.settle()
    os.utime(path)
    desk.put(desk.spot(1), content(1))
    assert desk.look().arrived == []


def test_a_new_file_with_incomplete_json_is_not_reported_yet(desk: Desk) -> None:
    path = desk.put(desk.spot(1), JSON[:-4])
    assert desk.look().arrived == []
    age(path.parent)
    assert desk.folder.has_news()
    path.write_bytes(JSON)
    assert names(desk.look()) == [path.name]


def test_an_old_file_without_valid_json_is_reported(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.put(desk.spot(1), JSON[:-4])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3)
    assert names(desk.look()) == [path.name]


def test_the_age_of_a_file_does_not_depend_on_its_modification_time(desk: Desk) -> None:
    path = desk.put(desk.spot(1), JSON[:-4])
    os.utime(path, (10**9, 10**9))
    assert desk.look().arrived == []


def test_a_moved_file_is_reported_with_its_new_place_until_it_is_noted(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.move(desk.spot(1), desk.spot(1, Shelf.ARCHIVE))
    moved = DepartedFile(desk.known(1), desk.spot(1, Shelf.ARCHIVE))
    assert desk.look().left == [moved]
    assert desk.look().left == [moved]
    desk.during(lambda visit: visit.note([moved.known._replace(spot=desk.spot(1, Shelf.ARCHIVE))], {}))
    assert desk.look() == NOTHING
    assert desk.during(lambda visit: visit.copies(message_id(1))) == [desk.known(1, Shelf.ARCHIVE)]


def test_a_swept_file_is_reported_with_its_task(dialogue: Desk) -> None:
    dialogue.bring(dialogue.sheet(1), dialogue.sheet(2, Shelf.ARCHIVE))
    dialogue.settle()
    swept = [dialogue.spot(n, Shelf.SWEPT, scope="M001") for n in (1, 2)]
    dialogue.move(dialogue.spot(1), swept[0])
    dialogue.move(dialogue.spot(2, Shelf.ARCHIVE), swept[1])
    assert dialogue.look().left == [DepartedFile(dialogue.known(1), swept[0])]
    a_minute_later(dialogue)
    assert dialogue.folder.has_news()
    assert dialogue.look().left == [
        DepartedFile(dialogue.known(1), swept[0]),
        DepartedFile(dialogue.known(2, Shelf.ARCHIVE), swept[1]),
    ]


def test_a_missing_file_is_reported_at_every_look_until_it_is_brought_again(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.path(desk.spot(1)).unlink()
    for _ in range(3):
        assert desk.folder.has_news()
        assert desk.look().left == [DepartedFile(desk.known(1), None)]
    desk.bring(desk.sheet(1))
    assert desk.look().left == []
    assert list(desk.files().values()) == [content(1)]


def test_a_missing_file_that_was_discarded_is_not_reported_any_more(desk: Desk) -> None:
    desk.bring(desk.sheet(1), desk.sheet(2))
    desk.settle()
    desk.path(desk.spot(1)).unlink()
    assert desk.look().left == [DepartedFile(desk.known(1), None)]
    desk.during(lambda visit: visit.discard([desk.known(1), desk.known(2)]))
    assert desk.files() == {}
    assert desk.look().left == []
    assert desk.during(lambda visit: visit.copies(message_id(2))) == []


def test_a_missing_file_that_returns_is_recognized(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    path = desk.path(desk.spot(1))
    away = path.rename(desk.root / "away")
    assert desk.look().left == [DepartedFile(desk.known(1), None)]
    away.rename(path)
    assert desk.look() == NOTHING


def test_a_missing_folder_is_reported_file_by_file(desk: Desk) -> None:
    desk.bring(desk.sheet(1), desk.sheet(2))
    desk.settle()
    folder = desk.path(desk.spot(1)).parent
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert desk.look().left == [DepartedFile(desk.known(1), None), DepartedFile(desk.known(2), None)]
    desk.bring(desk.sheet(1), desk.sheet(2))
    assert len(desk.files()) == 2


def test_our_own_files_are_not_reported(desk: Desk) -> None:
    desk.bring(*(desk.sheet(n) for n in range(5)), desk.sheet(9, Shelf.ARCHIVE))
    assert desk.look().arrived == []
    assert desk.look().left == []


def test_new_folders_of_agents_are_reported_until_a_visit_succeeds(desk: Desk) -> None:
    desk.path(desk.spot(1, owner="anna")).parent.mkdir(parents=True)

    async def fail(visit: Visit) -> None:
        assert (await visit.look(ALL)).owners == ["anna"]
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        desk.during(fail)
    assert desk.look().owners == ["anna"]
    assert desk.look().owners == []
    desk.path(desk.spot(1, owner="研究员")).parent.mkdir(parents=True)
    assert desk.look().owners == ["研究员"]


def test_our_own_folders_are_not_reported_as_new_agents(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    assert desk.look().owners == []


def test_a_mailbox_is_reported_when_it_gets_its_inbox(mailbox: Desk) -> None:
    (mailbox.root / "anna").mkdir()
    assert mailbox.look().owners == []
    mailbox.settle()
    assert not mailbox.folder.has_news()
    (mailbox.root / "anna" / "inbox").mkdir()
    assert mailbox.folder.has_news()
    assert mailbox.look().owners == ["anna"]


def test_one_look_takes_in_at_most_its_limit_and_says_if_there_is_more(desk: Desk) -> None:
    for n in range(10):
        desk.put(desk.spot(n, owner="anna" if n % 2 else "bob"), content(n))
    seen: list[str] = []
    for _ in range(5):
        sighting = desk.take_in(limit=2)
        assert len(sighting.arrived) == 2
        seen += names(sighting)
        assert sighting.is_more or len(seen) >= 8
    assert sorted(seen) == sorted(desk.spot(n).name for n in range(10))
    assert desk.take_in() == NOTHING


def test_files_are_reported_in_the_order_of_their_names(desk: Desk) -> None:
    for n in (3, 1, 2):
        desk.put(desk.spot(n), content(n))
    assert names(desk.look()) == [desk.spot(n).name for n in (1, 2, 3)]


def test_unseen_history_is_reported_at_the_first_looks_within_the_limit(desk: Desk) -> None:
    for n in range(5):
        desk.put(desk.spot(n, Shelf.ARCHIVE), content(n))
    first = desk.take_in(limit=3)
    assert (len(first.arrived), first.is_more) == (3, True)
    second = desk.take_in(limit=3)
    assert (len(second.arrived), second.is_more) == (2, False)
    assert {arrived.spot.shelf for arrived in (*first.arrived, *second.arrived)} == {Shelf.ARCHIVE}


def test_history_is_looked_at_once_a_minute(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.put(desk.spot(2, Shelf.ARCHIVE), content(2))
    assert desk.look().arrived == []
    a_minute_later(desk)
    assert desk.folder.has_news()
    assert names(desk.look()) == [desk.spot(2).name]


def test_foreign_history_written_at_the_moment_of_our_own_write_is_seen_eventually(desk: Desk) -> None:
    desk.bring(desk.sheet(1, Shelf.ARCHIVE))
    desk.settle()
    a_minute_later(desk)
    desk.settle()
    folder = desk.path(desk.spot(1, Shelf.ARCHIVE)).parent
    desk.put(desk.spot(2, Shelf.ARCHIVE), content(2))
    book = notebook(desk)
    relative = str(folder.relative_to(desk.root))
    book.leave_again(relative, FolderMark(folder.stat().st_mtime_ns))  # as if this process alone had written
    book.close()
    a_minute_later(desk)
    assert desk.look().arrived == []
    a_minute_later(desk, MUCH_LATER_S)
    assert names(desk.look()) == [desk.spot(2).name]


def test_a_file_changed_in_place_is_seen_within_a_minute(desk: Desk) -> None:
    path = desk.put(desk.spot(1), content(1))
    desk.settle()
    path.write_bytes(JSON)
    a_minute_later(desk)
    assert desk.folder.has_news()
    assert names(desk.look()) == [path.name]


def test_a_second_file_with_the_same_content_is_noted_as_well(desk: Desk) -> None:
    desk.put(desk.spot(1), content(1))
    desk.put(desk.spot(2), content(1))
    assert len(desk.take_in().arrived) == 2
    assert desk.look().arrived == []
    assert len(desk.during(lambda visit: visit.known(desk.spot(1).name))) == 1


def test_a_message_whose_file_was_overwritten_is_reported_as_missing(desk: Desk) -> None:
    """Programs that name files by the second overwrite the first message of a second with the next one."""
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.put(desk.spot(1), JSON)
    assert len(desk.take_in().arrived) == 1
    (left,) = desk.look().left
    assert (left.known.message_id, left.now) == (message_id(1), None)
    desk.bring(desk.sheet(1))
    assert sorted(desk.files().values()) == sorted([content(1), JSON])
    assert desk.look() == NOTHING


def test_ids_of_foreign_files_need_not_be_unique(desk: Desk) -> None:
    known = [
        KnownFile("msg_1", MessageId(message_id(n)), AgentName("bob"), desk.spot(n), is_ours=False) for n in (1, 2)
    ]
    for n in (1, 2):
        desk.put(desk.spot(n), content(n))

    async def run(visit: Visit) -> None:
        sighting = await visit.look(ALL)
        await visit.note(known, {arrived.spot: arrived.digest for arrived in sighting.arrived})

    desk.during(run)
    assert desk.during(lambda visit: visit.known("msg_1")) == known
    assert desk.look().arrived == []


def test_messages_are_listed_in_their_order(desk: Desk) -> None:
    desk.bring(*(desk.sheet(n) for n in (3, 1, 2)))
    assert desk.during(lambda visit: visit.messages("", 2)) == [message_id(1), message_id(2)]
    assert desk.during(lambda visit: visit.messages(message_id(2), 2)) == [message_id(3)]


def test_foreign_names_are_mapped_to_agents_and_back(desk: Desk) -> None:
    alias = AgentName("foreign-12345678")

    async def call(visit: Visit) -> None:
        assert await visit.owner_of(alias) == alias
        await visit.call(alias, "研究员 №1")
        assert await visit.agent_called("研究员 №1") == alias
        assert await visit.agent_called("somebody") is None
        assert await visit.agent_called("half \udc80 of it") is None
        assert await visit.owner_of(alias) == "研究员 №1"

    desk.during(call)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".", "..", ".hidden", "x\0y", "n" * 300])
def test_a_name_that_is_no_safe_folder_name_is_remembered_and_not_used_as_a_folder(desk: Desk, name: str) -> None:
    alias = AgentName("foreign-12345678")

    async def call(visit: Visit) -> None:
        await visit.call(alias, name)
        assert await visit.agent_called(name) == alias
        assert await visit.owner_of(alias) == alias

    desk.during(call)


def test_positions_are_kept(desk: Desk) -> None:
    async def advance(visit: Visit) -> None:
        assert (visit.position, visit.manifest_position) == (0, 0)
        await visit.advance(7)
        assert await visit.append([], 5)
        assert (visit.position, visit.manifest_position) == (7, 5)

    desk.during(advance)

    async def read(visit: Visit) -> tuple[int, int]:
        return visit.position, visit.manifest_position

    assert desk.during(read) == (7, 5)
    assert not (desk.root / "manifest.jsonl").exists()


def test_a_spot_outside_the_folder_is_refused(desk: Desk) -> None:
    for spot in (
        FilePlace(Shelf.INBOX, "../..", "a.msg.json"),
        FilePlace(Shelf.INBOX, "bob", "../a.msg.json"),
        FilePlace(Shelf.INBOX, "", "a.msg.json"),
    ):
        with pytest.raises(Invalid):
            desk.bring(desk.sheet(1)._replace(known=desk.known(1)._replace(spot=spot)))
    assert desk.files() == {}


def test_the_registry_is_reported_if_a_foreign_program_changed_it(mailbox: Desk) -> None:
    registry = mailbox.root / "_registry.json"
    mailbox.settle()
    registry.write_text('{"anna": {"agent_id": "anna"}}')
    assert mailbox.folder.has_news()
    assert mailbox.look().registry == {"anna": {"agent_id": "anna"}}
    assert mailbox.look().registry is None
    mailbox.settle()
    assert not mailbox.folder.has_news()
    mailbox.during(lambda visit: visit.register({"bob": {"agent_id": "bob", "status": "idle"}}))
    assert mailbox.look().registry is None
    assert mailbox.during(lambda visit: visit.registry()) == {
        "anna": {"agent_id": "anna"},
        "bob": {"agent_id": "bob", "status": "idle"},
    }
    registry.write_text("{}")
    assert mailbox.look().registry == {}


def test_a_dialogue_has_no_registry(dialogue: Desk) -> None:
    dialogue.during(lambda visit: visit.register({"bob": {}}))
    assert dialogue.during(lambda visit: visit.registry()) == {}
    assert not (dialogue.root / "_registry.json").exists()


async def test_noting_in_the_same_visit_is_enough(desk: Desk) -> None:
    path: Path = desk.put(desk.spot(1), content(1))
    age(path.parent)
    async with desk.folder.visit(1) as visit:
        await note(visit, await visit.look(ALL))
    assert desk.look().arrived == []
