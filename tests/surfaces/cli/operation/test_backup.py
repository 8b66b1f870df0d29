"""`covey backup` and `covey restore`, through `main(argv)` and as processes."""

import fcntl
import gzip
import json
import sys
import tarfile
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE, USAGE
from tests.adapters.children import child
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey

ELSEWHERE = "sqlite:elsewhere/covey.db"


def some_mail(covey: Covey, tmp_path: Path) -> str:
    """Send a request with a file from the critic to the coder; return the id of the message."""
    (tmp_path / "notes.txt").write_text("as it was")
    words = ("send", "did you mean it?", "--from", "critic", "--to", "coder", "--request", "--scope", "T-1")
    return covey(*words, "--register", "--file", "notes.txt", "--json").json["id"]


def restore(covey: Covey, *words: str) -> Said:
    return covey("restore", "space.tar", "--agent", "ops", *words)


@pytest.mark.requirement("operate.backup")
def test_a_backup_restored_elsewhere_has_every_record_up_to_its_position(covey: Covey, tmp_path: Path) -> None:
    asked = some_mail(covey, tmp_path)
    said = covey("backup", "space.tar", "--json")
    assert said.code == DONE
    assert (said.json["counts"]["messages"], said.json["blobs"], said.json["missing"]) == (1, 1, [])
    later = covey("send", "later", "--from", "critic", "--to", "coder", "--json").json["id"]
    done = restore(covey, "--to", ELSEWHERE, "--json")
    assert (done.code, done.json["position"]) == (DONE, said.json["position"])
    there = ("--store", ELSEWHERE)
    (item,) = covey("inbox", "coder", "--json", *there).json
    assert (item["id"], item["text"], item["parts"][1]["name"]) == (asked, "did you mean it?", "notes.txt")
    events = [json.loads(line) for line in covey("log", "--json", *there).out.splitlines()]
    assert [event["action"] for event in events][-1] == "space.restored"
    assert [event["position"] for event in events][-2] == said.json["position"]
    assert covey("receipt", later, *there).code != DONE
    assert covey("search", "mean", "--json", *there).json[0]["id"] == asked
    assert covey("doctor", *there).code == DONE
    assert (tmp_path / "elsewhere/covey.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "space.tar").stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {".covey", "elsewhere", "notes.txt", "space.tar"}
    assert not list((tmp_path / "elsewhere").glob("*restoring*"))


@pytest.mark.requirement("operate.backup")
def test_restored_sessions_have_ended_and_their_mail_is_parked(covey: Covey, tmp_path: Path) -> None:
    # The session is bound to this process, which is alive. The restored space must not list the session as live.
    joined = covey("join", "coder", "--json").json
    assert some_mail(covey, tmp_path)
    assert covey("agents", "--json").json[0]["agent"] == "coder"
    assert covey("backup", "space.tar").code == DONE
    done = restore(covey, "--to", ELSEWHERE)
    assert "Ended: 1 session;" in done.err
    there = ("--store", ELSEWHERE)
    (coder,) = [agent for agent in covey("agents", "--json", *there).json if agent["agent"] == "coder"]
    assert (coder["presence"], coder["sessions"]) == ("offline", [])
    (item,) = covey("inbox", "coder", "--json", *there).json
    assert item["parked"]
    ended = json.loads(covey("log", "--json", "--action", "session.ended", *there).out)
    assert (ended["details"]["session"], ended["actor"]["agent"]) == (joined["session"], "ops")
    assert covey("doctor", *there).code == DONE


@pytest.mark.requirement("operate.backup")
def test_a_backup_contains_tasks_and_a_task_in_progress_can_be_restarted(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--from", "critic", "--to", "coder", "--register", "--no-wait", "--json")
    waits, taken = (covey("delegate", text, *words).json["id"] for text in ("one", "two"))
    joined = covey("join", "coder", "--json").json
    monkeypatch.setenv("COVEY_SESSION", f"{joined['session']}:{joined['secret']}")
    assert covey("accept", taken).code == DONE
    monkeypatch.delenv("COVEY_SESSION")
    said = covey("backup", "space.tar", "--json")
    assert said.json["counts"]["tasks"] == 2
    assert restore(covey, "--to", ELSEWHERE).code == DONE
    there = ("--store", ELSEWHERE)
    assert covey("doctor", "--json", *there).json["findings"][0]["code"] == "task-untold"
    assert covey("accept", waits, "--as", "coder", *there).code == DONE
    assert covey("update", taken, "--start", "--as", "coder", *there).code == DONE
    assert covey("task", taken, "--json", *there).json["attempt"] == 2


def test_a_backup_of_a_store_from_before_there_were_tasks_is_restored(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    connection = apsw.Connection(str(tmp_path / ".covey/covey.db"))
    on_one_cursor(connection)(
        "drop table tasks; drop table posts; drop table bindings; drop table runs; drop table trees; drop table waits;"
        "drop table pairs; alter table offers drop column extents; alter table deliveries drop column seen;"
        "alter table messages drop column checksum; alter table deliveries drop column checksum;"
        "drop table flows; alter table sessions drop column status;"
        "delete from migrations where name >= '0007'"
    )
    connection.close()
    said = covey("backup", "space.tar", "--json")
    assert said.code == DONE
    assert "tasks" not in said.json["counts"]
    assert restore(covey, "--to", ELSEWHERE).code == DONE
    assert covey("doctor", "--store", ELSEWHERE).code == DONE


def test_an_existing_space_is_kept_unless_replace_is_given(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    later = covey("send", "later", "--from", "critic", "--to", "coder", "--json").json["id"]
    before = covey("log", "--json").out
    refused = restore(covey, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (REFUSED, "would-overwrite")
    assert covey("log", "--json").out == before
    assert restore(covey, "--replace").code == DONE
    assert covey("receipt", later).code != DONE
    assert len(covey("inbox", "coder", "--json").json) == 1
    assert covey("search", "later", "--json").json == []
    assert covey("doctor").code == DONE


def test_an_existing_backup_is_kept_unless_replace_is_given(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    (tmp_path / "space.tar").write_text("mine")
    said = covey("backup", "space.tar", "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "would-overwrite")
    assert (tmp_path / "space.tar").read_text() == "mine"
    assert covey("backup", "space.tar", "--replace").code == DONE
    assert restore(covey, "--to", ELSEWHERE).code == DONE


OPEN = """
import sys
from covey.adapters.sqlite.transactions.store import SqliteStore
store = SqliteStore(sys.argv[1])
print("open")
sys.stdin.readline()
"""


@pytest.mark.requirement("operate.backup")
def test_a_space_that_a_process_has_open_is_not_replaced(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    before = covey("log", "--json").out
    with child(OPEN, str(tmp_path / ".covey/covey.db")) as process:
        assert process.line() == "open"
        refused = restore(covey, "--replace", "--json")
        assert (refused.code, refused.json["error"]["code"]) == (UNAVAILABLE, "space-in-use")
    assert covey("log", "--json").out == before
    assert restore(covey, "--replace").code == DONE


def test_a_space_with_a_live_session_is_not_replaced(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    session = covey("join", "coder", "--json").json["session"]
    refused = restore(covey, "--replace")
    assert refused.code == UNAVAILABLE
    assert "of coder is live" in refused.err
    assert covey("leave", session, "--agent", "coder").code == DONE
    assert restore(covey, "--replace").code == DONE


def test_a_missing_file_is_reported_and_the_rest_is_backed_up(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    for blob in (tmp_path / ".covey/blobs").glob("??/*"):
        blob.unlink()
    said = covey("backup", "space.tar")
    assert said.code == DONE
    assert "1 attached file." in said.err
    assert restore(covey, "--to", ELSEWHERE).code == DONE


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _cut_end(content: bytes) -> bytes:
    return content[: content.index(b"end.json")]


def _spoil_records(content: bytes) -> bytes:
    place = content.index(b"did you mean it?")
    return content[:place] + b"DID" + content[place + 3 :]


def _spoil_blob(content: bytes) -> bytes:
    place = content.index(b"as it was")
    return content[:place] + b"AS" + content[place + 2 :]


def _newer(content: bytes) -> bytes:
    return content.replace(b'"format": 1', b'"format": 2')


def _no_tar(_content: bytes) -> bytes:
    return b"hello"


def _other_tar(_content: bytes) -> bytes:
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("hello"), BytesIO())
    return archive.getvalue()


@pytest.mark.parametrize("damage", [_cut, _cut_end, _spoil_records, _spoil_blob, _newer, _no_tar, _other_tar])
def test_a_damaged_backup_is_refused_and_nothing_is_changed(
    covey: Covey, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    file = tmp_path / "space.tar"
    file.write_bytes(damage(file.read_bytes()))
    said = restore(covey, "--to", ELSEWHERE, "--json")
    assert (said.code, said.json["error"]["code"]) == (UNAVAILABLE, "backup-unusable")
    assert not (tmp_path / "elsewhere").exists()
    before = covey("log", "--json").out
    assert restore(covey, "--replace").code == UNAVAILABLE
    assert covey("log", "--json").out == before


def test_a_compressed_backup_is_read_too(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "plain.tar")
    (tmp_path / "space.tar").write_bytes(gzip.compress((tmp_path / "plain.tar").read_bytes()))
    assert restore(covey, "--to", ELSEWHERE).code == DONE


def test_a_damaged_store_is_replaced_and_kept_under_another_name(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    store = tmp_path / ".covey/covey.db"
    damaged = b"no database at all, " * 500
    store.write_bytes(damaged)
    assert restore(covey).code == REFUSED
    assert store.read_bytes() == damaged
    assert restore(covey, "--replace").code == DONE
    (kept,) = (path for path in (tmp_path / ".covey").glob("covey.db-damaged-*") if path.name[-1].isdigit())
    assert kept.read_bytes() == damaged
    assert len(covey("inbox", "coder", "--json").json) == 1


def test_a_database_of_another_program_is_left_alone(covey: Covey, tmp_path: Path) -> None:
    some_mail(covey, tmp_path)
    covey("backup", "space.tar")
    foreign = apsw.Connection(str(tmp_path / "foreign.db"))
    on_one_cursor(foreign)("create table mine (x)")
    foreign.close()
    before = (tmp_path / "foreign.db").read_bytes()
    assert restore(covey, "--to", "sqlite:foreign.db", "--replace").code == UNAVAILABLE
    assert restore(covey, "--to", "sqlite:foreign.db").code == REFUSED
    assert (tmp_path / "foreign.db").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["backup", "."], USAGE, "it is a folder"),
        (["backup", "nowhere/space.tar"], USAGE, "no such folder"),
        (["backup", "x.tar", "--store", "memory:"], UNAVAILABLE, "it begins empty with each command"),
        (["backup", "x.tar", "--store", "sqlite:nowhere/covey.db"], UNAVAILABLE, "there is no space at"),
        (["backup"], USAGE, "FILE"),
        (["restore", "nothing.tar", "--agent", "ops"], UNAVAILABLE, "no such file"),
        (["restore", "x.tar", "--agent", "ops", "--to", "memory:"], USAGE, "only a store in a file"),
        (["restore", "x.tar", "--agent", "ops", "--to", "redis:x"], USAGE, "sqlite:PATH"),
        (["restore", "x.tar", "--agent", "operator", "--to", ELSEWHERE], REFUSED, "can't be claimed"),
    ],
)
def test_a_wrong_command_says_what_to_do(covey: Covey, words: list[str], code: int, says: str) -> None:
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert "error" in covey(*words, "--json").json


@pytest.mark.requirement("operate.backup")
def test_backups_are_whole_while_other_processes_write(folder: Folder) -> None:
    """Each backup contains exactly the events up to its position, and its records agree."""
    going = threading.Event()
    sent: list[int] = []

    def write(number: int) -> None:
        n = 0
        while not going.is_set() and n < 400:
            words = ("send", f"message {number} {n}", "--from", f"w{number}", "--to", "coder", "--register")
            assert folder.covey(*words, "--scope", "T-1").code == DONE
            n += 1
        sent.append(n)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    try:
        backups = [folder.covey("backup", f"{n}.tar", "--json") for n in range(6)]
    finally:
        going.set()
        for writer in writers:
            writer.join(60)
    assert all(said.code == DONE for said in backups)
    events = folder.covey("log", "--json", "--limit", "100000").json_lines
    for n, said in enumerate(backups):
        position = said.json["position"]
        restored = folder.covey("restore", f"{n}.tar", "--to", f"sqlite:r{n}/covey.db", COVEY_AGENT="ops")
        assert restored.code == DONE, restored.err
        there = folder.covey("log", "--json", "--limit", "100000", "--store", f"sqlite:r{n}/covey.db").json_lines
        assert there[:-1] == [event for event in events if event["position"] <= position]
        assert not integrity_check(folder.path / f"r{n}/covey.db")
        assert folder.covey("doctor", "--store", f"sqlite:r{n}/covey.db").code == DONE
    positions = [said.json["position"] for said in backups]
    assert positions == sorted(positions)
    assert len(sent) == 2


def test_two_backups_to_one_file_do_not_write_over_each_other(folder: Folder) -> None:
    folder.covey("send", "hi", "--from", "a", "--to", "b", "--register")
    (folder.path / "space.tar.part").touch()
    with (folder.path / "space.tar.part").open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        said = folder.covey("backup", "space.tar")
        assert said.code == UNAVAILABLE
        assert "another backup is being written" in said.err
    assert folder.covey("backup", "space.tar").code == DONE
    assert {path.name for path in folder.path.iterdir()} == {".covey", "space.tar"}


@pytest.mark.parametrize("blocks", [80, 200, 300])
def test_on_a_full_disk_no_partial_file_is_left_and_nothing_is_changed(folder: Folder, blocks: int) -> None:
    assert folder.covey("send", "x" * 100_000, "--from", "a", "--to", "b", "--register").code == DONE
    limited = f'ulimit -f {blocks}; exec "$@"'
    covey = ["sh", "-c", limited, "sh", sys.executable, "-m", "covey"]
    full = folder.run([*covey, "backup", "space.tar"])
    assert full.code == UNAVAILABLE, full
    assert {path.name for path in folder.path.iterdir()} == {".covey"}
    assert folder.covey("backup", "space.tar").code == DONE
    target = ("--to", "sqlite:r/covey.db", "--replace")
    full = folder.run([*covey, "restore", "space.tar", *target])
    assert full.code == UNAVAILABLE, full
    assert "Traceback" not in full.err
    assert not list((folder.path / "r").glob("*restoring*"))
    assert folder.covey("restore", "space.tar", *target).code == DONE
    assert len(folder.covey("inbox", "b", "--json", "--store", "sqlite:r/covey.db").json) == 1
