"""Spaces in folders that others share, from the command line: made, found, refused, looked after."""

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


def test_init_makes_a_folder_that_keeps_itself_out_of_version_control(covey: Covey, tmp_path: Path) -> None:
    said = covey("init", "--store", "files:shared?layout=dialogue", "--json")
    assert (said.code, said.json) == (DONE, {"store": "files:shared?layout=dialogue", "events": 0})
    assert (tmp_path / "shared" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "shared" / ".covey" / "layout").read_text() == "dialogue\n"
    assert covey("init", "--store", "files:shared", "--json").code == DONE


def test_a_folder_of_others_is_left_as_it_is(covey: Covey, tmp_path: Path) -> None:
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
        ("files:shared?layout=maildir", "known are: layout=dialogue|mailbox"),
        ("files:there?layout=mailbox", "has the layout dialogue"),
    ],
)
def test_what_is_no_files_store_is_refused_with_advice(covey: Covey, tmp_path: Path, url: str, advice: str) -> None:
    covey("init", "--store", "files:there?layout=dialogue")
    said = covey("init", "--store", url)
    assert said.code == USAGE
    assert advice in said.err.replace("\n", " ")
    assert not (tmp_path / "shared").exists()


def test_within_the_folder_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_doctor_finds_a_shared_folder_healthy_and_tells_what_was_set_aside(covey: Covey, tmp_path: Path) -> None:
    store = ("--store", "files:shared?layout=dialogue")
    covey("send", "--from", "bob", "--to", "alice", "hello", "--register", *store)
    healthy = covey("doctor", "--json", *store)
    assert healthy.code == DONE, healthy.out
    (tmp_path / "shared" / "inbox" / "alice" / "x.json").write_text('{"note": "no message"}')
    covey("inbox", "alice", *store)
    said = covey("doctor", *store)
    assert "x.json" in said.out
    assert [item["text"] for item in covey("inbox", "alice", "--json", *store).json] == ["hello"]


def test_a_shell_takes_on_a_session_in_a_shared_folder(covey: Covey, tmp_path: Path) -> None:
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
def test_a_person_sees_how_far_a_large_folder_is_taken_in(tmp_path: Path, words: tuple[str, ...]) -> None:
    fill(tmp_path / "shared", 1_200)
    store = ("--store", "files:shared?layout=dialogue")
    with Terminal((*words, *store), tmp_path, Folder(tmp_path).environment) as terminal:
        terminal.until("taking in files 500")
        terminal.ends_with(DONE)
    last_line = terminal.shown.rpartition("taking in files")[2]
    assert "\r\x1b[2K" in last_line  # it is taken away again


def test_a_program_does_not_see_it(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 1_200)
    said = covey("init", "--store", "files:shared?layout=dialogue")
    assert (said.code, said.err) == (DONE, "")


def test_a_folder_of_others_is_exported_with_what_is_in_it(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 3)
    assert covey("init", "--store", "files:shared?layout=dialogue").code == DONE
    said = covey("export", "out.jsonl", "--store", "files:shared?layout=dialogue", "--json")
    assert (said.code, said.json["records"]["message"]) == (DONE, 3)


def test_a_folder_of_others_is_backed_up_with_what_is_in_it(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path / "shared", 3)
    assert covey("init", "--store", "files:shared?layout=dialogue").code == DONE
    assert covey("backup", "space.tar", "--store", "files:shared?layout=dialogue").code == DONE
    assert covey("restore", "space.tar", "--to", "sqlite:there.db").code == DONE
    assert len(covey("search", "old", "--store", "sqlite:there.db", "--json").json) == 3


def test_a_folder_that_is_not_there_is_not_backed_up(covey: Covey, tmp_path: Path) -> None:
    said = covey("backup", "space.tar", "--store", "files:shared?layout=dialogue")
    assert (said.code, "there is no space at" in said.err.replace("\n", " ")) == (UNAVAILABLE, True)
    assert not (tmp_path / "shared").exists()
