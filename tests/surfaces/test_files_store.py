"""Spaces in shared folders, from the command line: created, found, refused, examined."""

import json
from pathlib import Path

import pytest

from covey.core.store_url import StoreUrl
from covey.engines import engine_of, locate, parse_store_url
from covey.surfaces.cli.exits import DONE, UNAVAILABLE, USAGE
from tests.services.shared_folder import letter
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import Terminal


def test_init_creates_a_folder_that_version_control_ignores(covey: Covey, tmp_path: Path) -> None:
    said = covey("init", "--store", "files:shared?layout=dialogue", "--json")
    assert (said.code, said.json) == (DONE, {"store": "files:shared?layout=dialogue", "events": 0})
    assert (tmp_path / "shared" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "shared" / ".covey" / "layout").read_text() == "dialogue\n"
    assert covey("init", "--store", "files:shared", "--json").code == DONE


def test_an_existing_folder_of_other_programs_is_left_as_it_is(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "_registry.json").write_text("{}")
    assert covey("init", "--store", "files:shared").code == DONE
    assert not (tmp_path / "shared" / ".gitignore").exists()
    assert (tmp_path / "shared" / ".covey" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "shared" / ".covey" / "layout").read_text() == "mailbox\n"


@pytest.mark.parametrize("sign", ["inbox", "manifest.jsonl"])
def test_a_folder_of_agent_loops_is_recognised(covey: Covey, tmp_path: Path, sign: str) -> None:
    (tmp_path / "shared" / sign).mkdir(parents=True)
    assert covey("init", "--store", "files:shared").code == DONE
    assert (tmp_path / "shared" / ".covey" / "layout").read_text() == "dialogue\n"


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("files:shared", "choose a layout"),
        ("files:", "name a folder"),
        ("files:shared?layout=maildir", "known options are: layout=dialogue|mailbox"),
        ("files:there?layout=mailbox", "has the layout dialogue"),
    ],
)
def test_a_wrong_files_store_is_refused_with_advice(covey: Covey, tmp_path: Path, url: str, advice: str) -> None:
    covey("init", "--store", "files:there?layout=dialogue")
    said = covey("init", "--store", url)
    assert said.code == USAGE
    assert advice in said.err.replace("\n", " ")
    assert not (tmp_path / "shared").exists()


def test_a_space_is_found_from_within_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "shared"
    assert Folder(tmp_path).covey("init", "--store", f"files:{there}?layout=mailbox").code == DONE
    (there / "alice" / "inbox").mkdir(parents=True)
    monkeypatch.chdir(there / "alice")
    monkeypatch.delenv("COVEY_STORE", raising=False)
    assert locate() == StoreUrl("files", str(there), {})
    inside = Folder(there / "alice")
    sent = inside.covey("send", "--from", "bob", "--to", "alice", "hello", "--register", "--json").json["id"]
    (path,) = (there / "alice" / "inbox").iterdir()
    assert json.loads(path.read_bytes())["id"] == sent
    assert [item["text"] for item in inside.covey("inbox", "alice", "--json").json] == ["hello"]


def test_the_file_of_the_ledger_is_in_its_hidden_folder() -> None:
    def path(text: str) -> str | None:
        url = parse_store_url(text)
        return engine_of(url).ledger_path(url)

    assert path("files:/a/b?layout=mailbox") == "/a/b/.covey/covey.db"
    assert path("sqlite:/a/b.db") == "/a/b.db"
    assert path("memory:") is None


def test_the_doctor_finds_a_shared_folder_healthy_and_reports_rejected_files(covey: Covey, tmp_path: Path) -> None:
    store = ("--store", "files:shared?layout=dialogue")
    covey("send", "--from", "bob", "--to", "alice", "hello", "--register", *store)
    healthy = covey("doctor", "--json", *store)
    assert healthy.code == DONE, healthy.out
    (tmp_path / "shared" / "inbox" / "alice" / "x.json").write_text('{"note": "no message"}')
    covey("inbox", "alice", *store)
    said = covey("doctor", *store)
    assert "x.json" in said.out
    assert [item["text"] for item in covey("inbox", "alice", "--json", *store).json] == ["hello"]


def test_a_shell_joins_in_a_shared_folder(covey: Covey, tmp_path: Path) -> None:
    joined = covey("join", "alice", "--json", "--store", "files:shared?layout=dialogue")
    assert joined.code == DONE
    assert joined.json["environment"]["COVEY_STORE"] == f"files:{tmp_path}/shared?layout=dialogue"


def fill(folder: Path, count: int) -> None:
    """Fill the archive of agent loops with messages."""
    archive = folder / "archive"
    archive.mkdir(parents=True)
    for n in range(1, count + 1):
        content = letter(n, "bob", "alice", "old")
        (archive / f"{content['id']}.json").write_text(json.dumps(content))


@pytest.mark.parametrize("words", [("init",), ("join", "alice")])
def test_a_person_sees_the_progress_of_reading_a_large_folder(tmp_path: Path, words: tuple[str, ...]) -> None:
    fill(tmp_path / "shared", 1_200)
    store = ("--store", "files:shared?layout=dialogue")
    with Terminal((*words, *store), tmp_path, Folder(tmp_path).environment) as terminal:
        terminal.until("reading new files 500")
        terminal.ends_with(DONE)
    last_line = terminal.shown.rpartition("reading new files")[2]
    assert "\r\x1b[2K" in last_line  # it is taken away again


def test_a_program_does_not_see_the_progress(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 1_200)
    said = covey("init", "--store", "files:shared?layout=dialogue")
    assert (said.code, said.err) == (DONE, "")


def test_an_export_of_a_foreign_folder_contains_its_messages(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 3)
    assert covey("init", "--store", "files:shared?layout=dialogue").code == DONE
    said = covey("export", "out.jsonl", "--store", "files:shared?layout=dialogue", "--json")
    assert (said.code, said.json["records"]["message"]) == (DONE, 3)


def test_a_backup_of_a_foreign_folder_contains_its_messages(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 3)
    assert covey("init", "--store", "files:shared?layout=dialogue").code == DONE
    assert covey("backup", "space.tar", "--store", "files:shared?layout=dialogue").code == DONE
    assert covey("restore", "space.tar", "--to", "sqlite:there.db").code == DONE
    assert len(covey("search", "old", "--store", "sqlite:there.db", "--json").json) == 3


def test_a_missing_folder_is_not_backed_up(covey: Covey, tmp_path: Path) -> None:
    said = covey("backup", "space.tar", "--store", "files:shared?layout=dialogue")
    assert (said.code, "there is no space at" in said.err.replace("\n", " ")) == (UNAVAILABLE, True)
    assert not (tmp_path / "shared").exists()
