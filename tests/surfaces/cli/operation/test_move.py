"""`covey move`."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from covey.adapters.sqlite.care.views import SqliteViews
from covey.core.coroutine import finish
from covey.engines import connect_inline, locate
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE, USAGE
from tests.core.foreign import as_file, dialogue
from tests.services.spaces import in_sqlite
from tests.services.transferring import check_same, check_sound
from tests.surfaces.commands import Folder, Said
from tests.surfaces.terminal import Terminal

Covey = Callable[..., Said]
HERE = "sqlite:.covey/covey.db"
THERE = "sqlite:there/covey.db"


def a_question(covey: Covey) -> str:
    """Send a request with a file from the critic to the coder; return the id of the message."""
    Path("notes.txt").write_text("as it was")
    words = ("send", "did you mean it? ä🐦", "--from", "critic", "--to", "coder", "--request", "--scope", "T-1")
    return covey(*words, "--register", "--file", "notes.txt", "--json").json["id"]


def test_a_moved_space_is_complete_in_both_stores(covey: Covey) -> None:
    asked = a_question(covey)
    before = hashlib.sha256(covey("export").out.split("\n", 1)[1].encode()).digest()
    said = covey("move", HERE, THERE)
    assert said.code == DONE
    assert said.out.startswith(f"Moved 9 records, up to event 4, to {THERE}.\n")
    assert "message   1\n" in said.out
    assert "Compared there: 1 message and 1 file.\nsha256 " in said.out
    assert said.err == f"{HERE} is as it was. Remove it once nobody uses it any more.\n"
    (item,) = covey("inbox", "coder", "--json", "--store", THERE).json
    assert (item["id"], item["text"], item["number"]) == (asked, "did you mean it? ä🐦", 1)
    ports = connect_inline(locate(THERE), [])
    assert finish(ports.blobs.get(item["parts"][1]["digest"])) == b"as it was"
    finish(ports.close())
    space = in_sqlite(Path("there/covey.db"))
    check_sound(space.services)
    check_same(SqliteViews(".covey/covey.db"), space.views)
    finish(space.store.close())
    assert hashlib.sha256(covey("export").out.split("\n", 1)[1].encode()).digest() == before


def test_a_space_is_the_same_after_moves_through_every_kind_of_store(covey: Covey) -> None:
    asked = a_question(covey)
    covey("reply", asked, "yes", "--from", "coder")
    covey("archive", asked, "--agent", "coder")
    stores = [HERE, "files:loop?layout=dialogue", "files:boxes?layout=mailbox", THERE]
    for source, target in pairwise(stores):
        assert covey("move", source, target).code == DONE
    assert [path.name for path in Path("loop/archive").iterdir()] == [f"{asked}.json"]
    assert len(list(Path("loop/inbox/critic").iterdir())) == len(list(Path("boxes/critic/inbox").iterdir())) == 1
    assert len(list(Path("boxes/coder/processed").iterdir())) == 1
    space = in_sqlite(Path("there/covey.db"))
    check_sound(space.services)
    check_same(SqliteViews(".covey/covey.db"), space.views)
    finish(space.store.close())


def test_a_folder_with_files_of_foreign_programs_is_moved(covey: Covey) -> None:
    inbox = Path("loop/inbox/np-executor")
    inbox.mkdir(parents=True)
    asked = dialogue()
    (inbox / f"{asked['id']}.json").write_bytes(as_file(asked))
    assert covey("move", "files:loop", "files:boxes?layout=mailbox").code == DONE
    (file,) = Path("boxes/np-executor/inbox").iterdir()
    assert json.loads(file.read_bytes())["from"] == "np-critic"
    (debt,) = covey("owed", "--agent", "np-executor", "--json", "--store", "files:boxes").json
    assert debt["message"] == asked["id"]
    busy = Path("busy/inbox/x")
    busy.mkdir(parents=True)
    (busy / "1.json").write_bytes(as_file(asked))
    assert covey("move", "files:loop", "files:busy", "--json").json["error"]["code"] == "would-overwrite"


def test_with_json_the_counts_are_reported_and_a_repeat_changes_nothing(covey: Covey) -> None:
    a_question(covey)
    exported = covey("export", "space.jsonl", "--json").json
    out = covey("move", HERE, THERE, "--json").json
    assert (out["from"], out["to"], out["changed"]) == (HERE, THERE, True)
    assert {key: out[key] for key in ("position", "records", "sha256")} == {
        key: exported[key] for key in ("position", "records", "sha256")
    }
    assert (out["compared"], out["missing_files"], out["events_since"]) == ({"messages": 1, "files": 1}, [], 0)
    before = covey("log", "--json", "--store", THERE).out
    again = covey("move", HERE, THERE, "--json").json
    assert {**again, "exported_at": ""} == {**out, "exported_at": "", "changed": False}
    assert "nothing was changed" in covey("move", HERE, THERE).out
    assert covey("log", "--json", "--store", THERE).out == before


def test_the_journal_names_the_mover(covey: Covey) -> None:
    a_question(covey)
    for n, (who, actor) in enumerate(((("--agent", "ann"), "ann"), ((), "user-"))):
        store = f"sqlite:there{n}/covey.db"
        assert covey("move", HERE, store, *who).code == DONE
        (event,) = covey("log", "--action", "space.imported", "--json", "--store", store).json_lines
        assert event["actor"]["agent"].startswith(actor)


def test_tokens_and_secrets_of_channels_are_moved_too(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    token = covey("token", "create", "--operator", "--json").json["token"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    assert covey("channels", "add", "desk", "--webhook", "http://127.0.0.1:9/hook-of-ours").code == DONE
    assert covey("move", HERE, THERE).code == DONE
    assert covey("token", "list", "--store", THERE).code == DONE

    def private(path: str) -> list[object]:
        async def read() -> list[object]:
            async with SqliteViews(path).view() as view:
                return [setting for setting in await view.settings() if setting.name.startswith("private.")]

        return finish(read())

    assert private("there/covey.db") == private(".covey/covey.db") != []


def test_an_agents_token_moves_nothing(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    a_question(covey)
    token = covey("token", "create", "coder", "--json").json["token"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    said = covey("move", HERE, THERE, "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "beyond-token")
    assert not Path("there").exists()


def test_a_target_with_its_own_space_is_left_alone(covey: Covey) -> None:
    a_question(covey)
    covey("send", "mine", "--from", "ann", "--to", "bob", "--register", "--store", THERE)
    before = covey("log", "--json", "--store", THERE).out
    said = covey("move", HERE, THERE)
    assert said.code == REFUSED
    assert "4 events of its own" in said.err
    assert "`covey export` and `covey import` join two spaces" in said.err
    assert covey("move", HERE, THERE, "--json").json["error"]["code"] == "would-overwrite"
    assert covey("log", "--json", "--store", THERE).out == before


def test_a_second_move_is_refused_if_the_source_has_changed_since(covey: Covey) -> None:
    a_question(covey)
    assert covey("move", HERE, THERE).code == DONE
    covey("send", "later", "--from", "critic", "--to", "coder")
    said = covey("move", HERE, THERE)
    assert said.code == REFUSED
    assert "it has part of an earlier move, and the old space has changed since" in said.err
    assert covey("move", HERE, "sqlite:elsewhere/covey.db").code == DONE


def test_a_space_with_a_live_session_is_not_moved(folder: Folder) -> None:
    folder.covey("send", "hello", "--from", "ann", "--to", "bob", "--register")
    joined = folder.covey("join", "cy", "--lease", "1h", "--json")
    assert joined.code == DONE, joined.err + joined.out
    said = folder.covey("move", HERE, THERE)
    assert said.code == UNAVAILABLE
    assert "of cy is live" in said.err
    assert not (folder.path / "there").exists()


def test_events_during_a_move_are_reported_and_make_it_fail(folder: Folder) -> None:
    """A program without a session writes during the move. The user must know this before removing the old store."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER], cwd=folder.path, env=folder.environment, stdout=subprocess.PIPE, text=True
    ) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline()
            for n in range(50):
                out = folder.covey("move", HERE, f"sqlite:there{n}/covey.db", "--json")
                assert out.code == (REFUSED if out.json["events_since"] else DONE)
                if out.json["events_since"]:
                    break
            else:
                pytest.fail("nothing ever happened meanwhile")
        finally:
            writer.kill()


WRITER = """
import sys
from covey.surfaces.cli.main import main
while True:
    assert main(["send", "more", "--from", "cy", "--to", "bob", "--register", "--json"]) == 0
    sys.stdout.flush()
"""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["move"], "FROM"),
        (["move", HERE], "TO"),
        (["move", HERE, HERE], "it is the one that is to be moved"),
        (["move", HERE, "sqlite:./x/../.covey/covey.db"], "it is the one that is to be moved"),
        (["move", HERE, "memory:"], "it ends with this process"),
        (["move", "memory:", THERE], "it ends with this process"),
        (["move", HERE, "files:."], "it is the one that is to be moved"),
        (["move", HERE, THERE], "the space is empty"),
        (["move", HERE, "redis:x"], "use memory:"),
        (["move", "here", "there"], "use memory:"),
    ],
)
def test_a_wrong_command_says_what_to_do_and_creates_nothing(covey: Covey, words: list[str], says: str) -> None:
    said = covey(*words)
    assert (said.code, said.out) == (USAGE, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert "error" in covey(*words, "--json").json
    assert [path.name for path in Path.cwd().iterdir()] == [".covey"]


def test_a_file_that_is_no_store_is_reported(covey: Covey) -> None:
    a_question(covey)
    Path("text.db").write_text("hello " * 1000)
    assert covey("move", HERE, "sqlite:text.db", "--json").json["error"]["code"] == "store-corrupt"
    assert covey("move", "sqlite:text.db", THERE, "--json").json["error"]["code"] == "store-corrupt"
    assert Path("text.db").read_text() == "hello " * 1000


def test_content_that_is_missing_in_the_target_is_found(covey: Covey) -> None:
    a_question(covey)
    assert covey("move", HERE, THERE).code == DONE
    for blob in Path("there/blobs").glob("??/*"):
        blob.unlink()
    said = covey("move", HERE, THERE, "--json")
    assert said.code == UNAVAILABLE
    assert "the content of file" in said.json["error"]["message"]


def test_a_file_whose_content_is_gone_is_reported(covey: Covey) -> None:
    a_question(covey)
    for blob in Path(".covey/blobs").glob("??/*"):
        blob.unlink()
    said = covey("move", HERE, THERE)
    assert said.code == DONE
    assert "1 attached file had no content any more" in said.err
    assert len(covey("move", HERE, THERE, "--json").json["missing_files"]) == 1


def test_messages_pruned_in_the_target_are_no_loss(covey: Covey) -> None:
    asked = a_question(covey)
    covey("reply", asked, "yes", "--from", "coder")
    covey("archive", asked, "--agent", "coder")
    covey("dismiss", *(item["id"] for item in covey("inbox", "critic", "--json").json), "--agent", "critic")
    assert covey("move", HERE, THERE).code == DONE
    assert covey("prune", "--older-than", "0s", "--agent", "ops", "--store", THERE).code == DONE
    again = covey("move", HERE, THERE, "--json")
    assert again.code == DONE
    assert (again.json["changed"], again.json["compared"]["messages"]) == (False, 0)


def test_a_person_sees_the_progress(folder: Folder) -> None:
    folder.covey("send", "hello", "--from", "ann", "--to", "bob", "--register")
    with Terminal(["move", HERE, THERE], folder.path, {"HOME": str(folder.path)}) as terminal:
        shown = terminal.until("Remove it once")
        assert "reading 7" in shown
        assert shown.rindex("\x1b[2K") < shown.index("Moved 7 records")


def test_real_processes_move_a_space(folder: Folder) -> None:
    sent = folder.covey("send", "hello", "--from", "ann", "--to", "bob", "--register", "--json").json
    moved = folder.covey("move", HERE, THERE, "--json")
    assert (moved.code, moved.err) == (DONE, "")
    (item,) = json.loads(folder.covey("inbox", "bob", "--json", "--store", THERE).out)
    assert item["id"] == sent["id"]
