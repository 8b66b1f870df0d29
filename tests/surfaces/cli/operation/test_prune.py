"""`covey prune`, through `main(argv)` and as a process."""

import json
import os
import time
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey


def closed_dialogue(covey: Covey, scope: str | None = "T-1", *files: str) -> str:
    """Send a question, answer it, archive it and handle the answer; return the id of the question."""
    words = ["send", "did you mean it?", "--from", "critic", "--to", "coder", "--request", "--register", "--json"]
    words += ["--scope", scope] if scope else []
    words += [word for file in files for word in ("--file", file)]
    asked = covey(*words).json["id"]
    answer = covey("reply", asked, "yes", "--from", "coder", "--json").json["id"]
    assert covey("archive", asked, "--agent", "coder").code == DONE
    assert covey("handle", answer, "--agent", "critic").code == DONE
    return asked


@pytest.mark.requirement("operate.prune")
def test_a_closed_scope_is_shown_then_pruned_and_its_tombstone_is_in_the_log(covey: Covey) -> None:
    asked = closed_dialogue(covey)
    before = covey("log", "--json").out
    shown = covey("prune", "--dry-run", "--older-than", "0s")
    assert (shown.code, shown.out.splitlines()[1].split()) == (DONE, ["T-1", "1", "2", "0", "0", "0s"])
    assert covey("prune", "--dry-run").out == "Nothing would go.\n"
    assert covey("log", "--json").out == before
    done = covey("prune", "--older-than", "0s", "--agent", "ops")
    assert done.code == DONE
    assert done.out.startswith("Pruned 2 messages, ")
    tombstone = json.loads(covey("log", "--json", "--action", "messages.pruned").out.splitlines()[0])
    assert (tombstone["scope"], tombstone["actor"]["agent"], tombstone["details"]["messages"]) == ("T-1", "ops", 2)
    assert covey("prune", "--older-than", "0s", "--agent", "ops").out == "Nothing to prune.\n"
    gone = covey("receipt", asked, "--json")
    assert (gone.code, gone.json["error"]["code"]) == (NOT_FOUND, "message-pruned")
    assert covey("search", "mean").code in (DONE, REFUSED)
    assert asked not in covey("search", "mean", "--json").out
    assert covey("doctor").code == DONE


@pytest.mark.requirement("operate.prune")
def test_an_open_scope_is_kept_and_pruning_it_by_name_is_refused(covey: Covey) -> None:
    closed_dialogue(covey)
    send = ("send", "and this?", "--from", "critic", "--to", "coder", "--request", "--scope", "T-1", "--json")
    still_open = covey(*send).json["id"]
    every = covey("prune", "--older-than", "0s", "--agent", "ops")
    assert (every.code, every.out) == (DONE, "Nothing to prune.\n")
    assert every.err == "Kept: 1 scope with something open, owed or waiting.\n"
    one = covey("prune", "--scope", "T-1", "--older-than", "0s", "--agent", "ops", "--json")
    assert (one.code, one.json["stays"]) == (REFUSED, [{"scope": "T-1", "why": "open"}])
    assert covey("receipt", still_open).code == DONE


@pytest.mark.requirement("operate.prune")
def test_a_message_with_a_pruned_id_is_not_accepted(covey: Covey) -> None:
    asked = closed_dialogue(covey, None)
    assert covey("prune", "--unscoped", "--older-than", "0s").code == DONE
    (tombstone,) = covey("log", "--json", "--action", "messages.pruned").out.splitlines()
    assert json.loads(tombstone)["actor"]["agent"].startswith("user-")
    again = covey("send", "again", "--id", asked, "--from", "critic", "--to", "coder", "--json")
    assert (again.code, again.json["error"]["code"]) == (NOT_FOUND, "message-pruned")
    assert covey("inbox", "coder", "--json").json == []


def test_pruned_children_are_counted(covey: Covey) -> None:
    assert covey("spawn", "x", "--from", "lead", "--run", "echo mine").out == "mine\n"
    failed = covey("spawn", "x", "--from", "lead", "--run", "echo mine", "--file", "nowhere.txt")
    assert failed.code != DONE
    shown = covey("prune", "--dry-run", "--older-than", "0s")
    assert shown.out.splitlines()[0].split() == ["scope", "threads", "messages", "tasks", "children", "quiet", "for"]
    assert shown.out.splitlines()[1].split()[:5] == ["(none)", "1", "2", "0", "2"]
    assert shown.err == "In all: 2 messages with 2 children.\n"
    (closed,) = covey("prune", "--dry-run", "--older-than", "0s", "--json").json["closed"]
    assert closed["runs"] == 2
    assert covey("prune", "--older-than", "0s").out.startswith("Pruned 2 messages with 2 children, ")
    assert covey("sessions", "--all", "--json").json == []
    assert covey("doctor").code == DONE


def test_files_are_removed_an_hour_after_their_last_use(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("as it was")
    closed_dialogue(covey, "T-1", "notes.txt")
    prune = ("prune", "--older-than", "0s", "--agent", "ops", "--json")
    assert covey(*prune).json["removed"]["blobs"] == 0
    (blob,) = [path for path in (tmp_path / ".covey/blobs").glob("??/*") if path.is_file()]
    age(blob)
    assert covey(*prune).json["removed"]["blobs"] == 1
    assert not blob.exists()


def test_a_file_that_a_message_refers_to_stays(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("as it was")
    closed_dialogue(covey, "T-1", "notes.txt")
    covey("send", "look", "--from", "critic", "--to", "coder", "--file", "notes.txt")
    (blob,) = [path for path in (tmp_path / ".covey/blobs").glob("??/*") if path.is_file()]
    age(blob)
    done = covey("prune", "--older-than", "0s", "--agent", "ops", "--json").json["removed"]
    assert (done["messages"], done["blobs"]) == (2, 0)
    assert blob.exists()


def age(file: Path) -> None:
    """Set the last use of a file to yesterday."""
    yesterday = time.time() - 86_400
    os.utime(file, (yesterday, yesterday))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--older-than", "soon", "--agent", "ops"], "use 90s, 10m"),
        (["--scope", "../x", "--agent", "ops"], "scope"),
        (["--scope", "T-9", "--agent", "ops"], "no message has it"),
        (["--scope", "T-1", "--unscoped", "--agent", "ops"], "not allowed with"),
    ],
)
def test_a_wrong_prune_says_what_to_do(covey: Covey, words: list[str], says: str) -> None:
    closed_dialogue(covey)
    said = covey("prune", *words)
    assert (said.code, said.out) == (USAGE, "")
    assert says in said.err
    assert "error" in covey("prune", *words, "--json").json


def test_prune_works_as_a_process(folder: Folder) -> None:
    asked = closed_dialogue(folder.covey)
    done = folder.covey("prune", "--older-than", "0s", "--json", COVEY_AGENT="ops")
    assert (done.code, done.err) == (DONE, "")
    assert done.json["removed"]["messages"] == 2
    assert [closed["scope"] for closed in done.json["closed"]] == ["T-1"]
    assert folder.covey("thread", asked).code == NOT_FOUND
    assert folder.covey("prune", "--scope", "T-1", COVEY_AGENT="ops").code == USAGE
