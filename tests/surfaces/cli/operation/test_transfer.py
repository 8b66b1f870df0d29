"""`covey export` and `covey import`."""

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.adapters.sqlite.care.views import SqliteViews
from covey.core.coroutine import finish
from covey.core.names import AgentName
from covey.engines import connect_inline, locate
from covey.surfaces.cli.exits import DONE, REFUSED, USAGE
from covey.surfaces.cli.terminal.progress import bar
from tests.services.spaces import in_memory, in_sqlite
from tests.services.transferring import check_same, check_sound
from tests.surfaces.commands import Folder, Said
from tests.surfaces.terminal import Terminal

Covey = Callable[..., Said]
THERE = "sqlite:there/covey.db"


def a_question(covey: Covey) -> str:
    """Send a request with a file from the critic to the coder; return the id of the message."""
    Path("notes.txt").write_text("as it was")
    words = ("send", "did you mean it? ä🐦", "--from", "critic", "--to", "coder", "--request", "--scope", "T-1")
    said = covey(*words, "--subject", "style", "--register", "--file", "notes.txt", "--json")
    assert said.code == DONE
    return said.json["id"]


def test_an_exported_space_is_imported_elsewhere(covey: Covey) -> None:
    asked = a_question(covey)
    said = covey("export", "space.jsonl")
    assert (said.code, said.err) == (DONE, "")
    assert said.out == "Exported 9 records, up to event 4, to space.jsonl.\n"
    said = covey("import", "space.jsonl", "--store", THERE)
    assert (said.code, said.out) == (DONE, "Imported 9 records, up to event 4.\n")
    (item,) = covey("inbox", "coder", "--json", "--store", THERE).json
    assert (item["id"], item["text"], item["number"]) == (asked, "did you mean it? ä🐦", 1)
    assert covey("gate", "T-1", "--store", THERE).code == REFUSED
    ports = connect_inline(locate(THERE), [])
    assert finish(ports.blobs.get(item["parts"][1]["digest"])) == b"as it was"
    finish(ports.close())
    space = in_sqlite(Path("there/covey.db"))
    check_sound(space.services)
    check_same(SqliteViews(".covey/covey.db"), space.views)
    finish(space.store.close())


def test_with_json_export_and_import_report_the_same_records(covey: Covey) -> None:
    a_question(covey)
    out = covey("export", "space.jsonl", "--json").json
    assert out["file"] == "space.jsonl"
    assert out["records"] == {"agent": 2, "event": 3, "blob": 1, "message": 1, "ticket": 1, "delivery": 1}
    assert (out["position"], out["missing_files"]) == (4, [])
    taken = covey("import", "space.jsonl", "--store", THERE, "--json").json
    assert taken == {key: out[key] for key in ("position", "exported_at", "records", "sha256")} | {"changed": True}
    assert covey("import", "space.jsonl", "--store", THERE, "--json").json == {**taken, "changed": False}


def test_the_same_file_again_changes_nothing(covey: Covey) -> None:
    a_question(covey)
    covey("export", "space.jsonl")
    covey("import", "space.jsonl", "--store", THERE)
    before = covey("export", "--store", THERE).out.splitlines()
    said = covey("import", "space.jsonl", "--store", THERE)
    assert (said.code, said.out) == (DONE, "All 9 records are here already: nothing was changed.\n")
    assert covey("export", "--store", THERE).out.splitlines()[1:] == before[1:]


def test_the_journal_names_the_importer(covey: Covey) -> None:
    covey("export", "space.jsonl")
    for name, actor in (("named", "ann"), ("unnamed", "user-")):
        store = f"sqlite:{name}/covey.db"
        who = ("--agent", "ann") if name == "named" else ()
        assert covey("import", "space.jsonl", "--store", store, *who).code == DONE
        (event,) = covey("log", "--action", "space.imported", "--json", "--store", store).json_lines
        assert event["actor"]["agent"].startswith(actor)


def test_an_export_is_private_and_overwrites_a_file_only_with_replace(covey: Covey) -> None:
    assert covey("export", "space.jsonl").code == DONE
    assert stat.S_IMODE(Path("space.jsonl").stat().st_mode) == 0o600
    old = Path("space.jsonl").read_bytes()
    a_question(covey)
    said = covey("export", "space.jsonl")
    assert said.code == REFUSED
    assert "--replace" in said.err
    assert Path("space.jsonl").read_bytes() == old
    assert covey("export", "space.jsonl", "--replace").code == DONE
    assert Path("space.jsonl").read_bytes() != old
    assert sorted(path.name for path in Path.cwd().iterdir()) == [".covey", "notes.txt", "space.jsonl"]


def test_the_rest_of_a_killed_export_is_overwritten(covey: Covey) -> None:
    Path("space.jsonl.part").write_bytes(b"half a line")
    assert covey("export", "space.jsonl").code == DONE
    assert covey("import", "space.jsonl", "--store", THERE).code == DONE
    assert not Path("space.jsonl.part").exists()


def test_a_file_whose_content_is_gone_is_reported(covey: Covey) -> None:
    a_question(covey)
    for blob in Path(".covey/blobs").glob("??/*"):
        blob.unlink()
    said = covey("export", "space.jsonl")
    assert said.code == DONE
    assert "1 attached file(s) are missing" in said.err
    assert len(covey("export", "space.jsonl", "--replace", "--json").json["missing_files"]) == 1


def test_pruned_messages_stay_pruned_after_an_import(covey: Covey) -> None:
    asked = a_question(covey)
    covey("reply", asked, "yes", "--from", "coder")
    covey("archive", asked, "--agent", "coder")
    covey("dismiss", *(item["id"] for item in covey("inbox", "critic", "--json").json), "--agent", "critic")
    assert covey("prune", "--older-than", "0s", "--agent", "ops").code == DONE
    assert covey("export", "space.jsonl", "--json").json["records"]["pruned"] == 1
    assert covey("import", "space.jsonl", "--store", THERE).code == DONE
    for store in ((), ("--store", THERE)):
        assert covey("receipt", asked, "--json", *store).json["error"]["code"] == "message-pruned"
        again = ("send", "again", "--id", asked, "--from", "critic", "--to", "coder", "--json", *store)
        assert covey(*again).code != DONE
    there, here = in_sqlite(Path("there/covey.db")), in_memory()
    check_sound(there.services)
    here.take_in(there.lines())
    check_sound(here.services)
    check_same(there.views, here.views)
    finish(there.store.close())


WRONG: list[tuple[Callable[[list[str]], list[str]], str, str]] = [
    (lambda lines: [], "export-damaged", "line 1 of the export"),
    (lambda lines: ["hello\n"], "export-damaged", "it is not an export of Covey"),
    (lambda lines: lines[:-1], "export-damaged", "line 11 of the export: it is cut off here"),
    (lambda lines: [*lines[:5], lines[5][:30]], "export-damaged", "line 6 of the export: the line is cut off"),
    (
        lambda lines: [line.replace("mean", "meen") for line in lines],
        "export-damaged",
        "line 8 of the export: its checksum",
    ),
    (lambda lines: [*lines[:4], *lines[5:]], "export-damaged", "counts or hashes of event"),
    (lambda lines: [lines[0].replace('"version":3', '"version":9')], "export-newer", "Upgrade Covey"),
]


@pytest.mark.parametrize(("spoil", "code", "says"), WRONG)
def test_a_wrong_file_is_refused_with_its_line_and_changes_nothing(
    covey: Covey, spoil: Callable[[list[str]], list[str]], code: str, says: str
) -> None:
    a_question(covey)
    lines = covey("export").out.splitlines(keepends=True)
    Path("wrong.jsonl").write_text("".join(spoil(lines)), encoding="utf-8", newline="")
    assert covey("init", "--store", THERE).code == DONE
    said = covey("import", "wrong.jsonl", "--store", THERE)
    assert said.code == REFUSED
    assert says in said.err
    assert said.err.count("\n") == 1
    assert covey("import", "wrong.jsonl", "--store", THERE, "--json").json["error"]["code"] == code
    assert covey("log", "--store", THERE, "--json").out == ""
    assert not list(Path("there/blobs").glob("??/*"))


def test_an_export_with_records_that_exist_already_is_refused(covey: Covey) -> None:
    a_question(covey)
    covey("export", "space.jsonl")
    before = covey("log", "--json").out
    said = covey("import", "space.jsonl")
    assert said.code == REFUSED
    assert "Import it into a new space" in said.err
    assert covey("import", "space.jsonl", "--json").json["error"]["code"] == "import-conflict"
    assert covey("log", "--json").out == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["import"], USAGE, "FILE"),
        (["import", "nowhere.jsonl"], USAGE, "no such file"),
        (["import", "."], USAGE, "is a directory"),
        (["export", "."], USAGE, "it is a folder"),
        (["export", "nowhere/space.jsonl"], USAGE, "no such file or directory"),
        (["export", "/proc/nope"], USAGE, "can't be written"),
        (["export", "--store", "redis:x"], USAGE, "use memory:"),
    ],
)
def test_a_wrong_command_says_what_to_do(covey: Covey, words: list[str], code: int, says: str) -> None:
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert "error" in covey(*words, "--json").json


def test_real_processes_hand_a_space_to_each_other_through_a_pipe(folder: Folder) -> None:
    sent = folder.covey("send", "hello", "--from", "ann", "--to", "bob", "--register", "--json").json
    python = sys.executable
    piped = folder.run(["sh", "-c", f"{python} -m covey export | {python} -m covey import - --store {THERE} --json"])
    assert piped.code == DONE
    assert piped.json["changed"] is True
    assert piped.err == "Exported 7 records, up to event 4, to stdout.\n"
    (item,) = folder.covey("inbox", "bob", "--json", "--store", THERE).json
    assert item["id"] == sent["id"]
    assert folder.covey("import", "nowhere").code == USAGE
    assert folder.covey("import", ".covey/covey.db").code == REFUSED


def test_an_export_to_stdout_ends_quietly_when_the_reader_closes_the_pipe(folder: Folder) -> None:
    (folder.path / "big").write_bytes(b"x" * 2_000_000)
    folder.covey("send", "", "--file", "big", "--from", "ann", "--to", "bob", "--register")
    with folder.start("export") as export:
        assert export.line().startswith('{"format":"covey-export"')
        export.close_stdout()
        assert export.process.wait(20) == DONE
        assert export.process.stderr is not None
        assert export.process.stderr.read() == b""


def test_a_person_sees_progress_and_the_line_is_removed_at_the_end(folder: Folder) -> None:
    folder.covey("send", "hello", "--from", "ann", "--to", "bob", "--register")
    with Terminal(["export", "space.jsonl"], folder.path, {"HOME": str(folder.path)}) as terminal:
        shown = terminal.until("to space.jsonl")
        assert "exporting █" in shown
        assert shown.rindex("\x1b[2K") < shown.index("Exported")
    with Terminal(["import", "space.jsonl", "--store", THERE], folder.path, {"HOME": str(folder.path)}) as terminal:
        assert "checking 7" in terminal.until("Imported 7 records")


def test_the_bar_says_how_much_is_done() -> None:
    assert bar("pruning", 5, None) == "pruning 5"
    assert bar("exporting", 0, 2_000) == "exporting " + "░" * 24 + "   0%  0 of 2,000"
    assert bar("exporting", 1_000, 2_000) == "exporting " + "█" * 12 + "░" * 12 + "  50%  1,000 of 2,000"
    assert bar("exporting", 2_500, 2_000) == "exporting " + "█" * 24 + " 100%  2,500 of 2,000"
    assert len(bar("importing", 1_234_567, 2_345_678)) < 80


WRITER = """
import sys
from covey.surfaces.cli.main import main
name, n = sys.argv[1], 0
while True:
    n += 1
    assert main(["send", f"{name} {n}", "--from", name, "--to", "reader", "--register", "--json"]) == 0
    sys.stdout.flush()
"""


def test_concurrent_imports_of_one_file_into_a_space_in_use_import_it_once(folder: Folder) -> None:
    source = in_sqlite(folder.path / "source.db")
    people = [source.join(AgentName(name)) for name in ("ann", "bob")]
    for n in range(400):
        source.send(people[n % 2], "reader", f"message {n}")
    for person in people:
        finish(source.services.directory.leave(person))
    (folder.path / "space.jsonl").write_bytes(b"".join(source.lines()))
    imports = [folder.start("import", "space.jsonl", "--json") for _ in range(3)]
    with imports[0], imports[1], imports[2]:
        while any(one.process.poll() is None for one in imports):
            said = folder.covey("send", "meanwhile", "--from", "cy", "--to", "reader", "--register")
            assert said.code == DONE, said.err
        said = [one.end() for one in imports]
    assert [one.code for one in said] == [DONE] * 3, said
    target = in_sqlite(folder.path / ".covey" / "covey.db")
    check_sound(target.services)
    texts = [item.message.text for item in target.inbox(AgentName("reader"))]
    assert [text for text in texts if text != "meanwhile"] == [f"message {n}" for n in range(400)]
    for space in (source, target):
        finish(space.store.close())


def test_a_space_is_exported_while_other_processes_write(folder: Folder) -> None:
    """Three processes send continuously. The export contains every message accepted before it and is consistent."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, name],
            cwd=folder.path,
            env=folder.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ann", "bob", "cy")
    ]
    try:
        accepted: list[str] = []
        for n in range(4):
            for writer in writers:
                assert writer.stdout is not None
                accepted.append(json.loads(writer.stdout.readline())["id"])
            assert folder.covey("export", f"space{n}.jsonl").code == DONE
            target = in_memory()
            with (folder.path / f"space{n}.jsonl").open("rb") as file:
                target.take_in(list(file))
            check_sound(target.services)
            here = {item.message.id for item in target.inbox(AgentName("reader"))}
            assert set(accepted) <= here
        assert all(writer.poll() is None for writer in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=20)
