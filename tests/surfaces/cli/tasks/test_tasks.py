"""The verbs of tasks, through `main(argv)`: handing over, doing, looking, and whatever can be wrong with that."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.core.coroutine import finish
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import FilePart, Kind
from covey.core.names import parse_agent_name
from covey.engines import connect_inline, parse_store_url
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.space import Services
from covey.surfaces.cli.exits import DONE, FAILED, NOT_FOUND, REFUSED, REJECTED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Said
from tests.surfaces.conftest import Covey

NO_TASK = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"


def handed_over(covey: Covey, text: str = "fix the parser", *more: str, to: str = "coder") -> str:
    """Let the lead hand a task over; return its id."""
    said = covey("delegate", text, "--from", "lead", "--to", to, "--register", "--no-wait", *more)
    assert said.code == DONE, said.err
    return said.out.strip()


def does(covey: Covey, name: str, *moves: Sequence[str], by: str = "coder") -> None:
    """Let an agent accept a task and make moves."""
    assert covey("accept", name, "--as", by).code == DONE
    for words in moves:
        said = covey("update", name, "--as", by, *words)
        assert said.code == DONE, said.err


def ended(covey: Covey, task: str) -> Said:
    """Ask how a task ended, as who handed it over."""
    return covey("task", task, "--wait", "0s", "--agent", "lead")


def test_a_task_is_handed_over_accepted_done_and_its_result_is_written(covey: Covey) -> None:
    task = handed_over(covey, "fix the parser", "--scope", "T-1", "--subject", "parser", "--deadline", "2h")
    assert covey("accept", task, "--as", "coder") == Said(DONE, "coder:1 is accepted.\n", "")
    assert covey("update", task, "--as", "coder", "--start") == Said(DONE, "coder:1 is working.\n", "")
    assert covey("update", "coder:1", "--as", "coder", "--progress", "half").out == "coder:1: the progress is told.\n"
    assert [item["text"] for item in covey("inbox", "lead", "--json").json][-1] == "half"
    assert covey("update", "1", "--agent", "coder", "--complete", "it is fixed").out == "coder:1 is completed.\n"
    assert ended(covey, task) == Said(DONE, "it is fixed\n", "")
    assert covey("inbox", "lead", "--json").json == [], "who waited for the result has been told"
    assert covey("inbox", "coder", "--json").json == []


def test_programs_get_a_task_with_its_history_files_and_result(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("the plan")
    (tmp_path / "parser.py").write_text("fixed")
    task = handed_over(covey, "fix it", "--file", "plan.txt", "--data", '{"level": 3}', "--callback", "feishu:room-7")
    result = ("--complete", "done", "--file", "parser.py", "--data", '{"ok": true}')
    does(covey, task, ("--start",), ("--progress", "half"), result)
    document = covey("task", task, "--json").json
    assert (document["id"], document["number"], document["state"], document["attempt"]) == (task, 1, "completed", 1)
    assert (document["delegator"], document["agent"], document["text"]) == ("lead", "coder", "fix it")
    assert document["callback"] == {"channel": "feishu", "conversation": "room-7"}
    assert document["progress"]["text"] == "half"
    assert [part["type"] for part in document["result"]["parts"]] == ["text", "data", "file"]
    assert [(file["name"], file["with"]) for file in document["artifacts"]] == [
        ("plan.txt", "task"),
        ("parser.py", "completed"),
    ]
    history = [(step["what"], step["actor"]["agent"], step["text"]) for step in document["history"]]
    assert history == [
        ("delegated", "lead", ""),
        ("taken", "coder", ""),
        ("accepted", "coder", ""),
        ("working", "coder", ""),
        ("progress", "coder", "half"),
        ("completed", "coder", "done"),
    ]
    assert document["tree"]["children"] == []
    outcome = covey("task", task, "--wait", "0s", "--json").json
    assert (outcome["state"], outcome["text"], outcome["resume"]) == ("completed", "done", None)


def test_a_person_reads_all_there_is_to_know_of_a_task(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "parser.py").write_text("fixed")
    task = handed_over(covey, "fix the parser\nand its tests", "--scope", "T-1")
    does(covey, task, ("--start",), ("--progress", "half"), ("--complete", "done", "--file", "parser.py"))
    said = covey("task", "coder:1")
    assert said.code == DONE
    lines = said.out.splitlines()
    assert lines[0].startswith("task lead (claimed) → coder  T-1  ")
    assert lines[1] == f"coder:1  {task}"
    assert lines[2].startswith("completed ")
    assert lines[4:6] == ["  fix the parser", "  and its tests"]
    assert "  half" in lines
    assert any(line.startswith("parser.py  5      completed") for line in lines)
    assert [line.split("  ")[2].strip() for line in lines[-5:]] == [
        "delegated",
        "accepted",
        "working",
        "progress",
        "completed",
    ]
    assert said.err == "`covey task coder:1 --save FOLDER` writes them there.\n"


def test_what_was_handed_on_is_shown_as_a_tree(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    task = handed_over(covey, "write the book", "--callback", "console:desk")
    does(covey, task, ("--start",))
    monkeypatch.setenv("COVEY_TASK", task)
    first = covey("delegate", "draw it", "--from", "coder", "--to", "artist", "--register", "--no-wait").out.strip()
    covey("delegate", "check it", "--from", "coder", "--to", "critic", "--register", "--no-wait")
    monkeypatch.delenv("COVEY_TASK")
    last = covey("delegate", "ink it", "--from", "artist", "--to", "inker", "--register", "--no-wait", "--for", first)
    document = covey("task", last.out.strip(), "--json").json
    assert (document["parent"], document["hops_left"], document["trace"]) == (first, 0, ["lead", "coder", "artist"])
    assert document["callback"] == {"channel": "console", "conversation": "desk"}, "it belongs to the same conversation"
    top = document["tree"]
    assert (top["id"], [child["agent"] for child in top["children"]]) == (task, ["artist", "critic"])
    assert top["children"][0]["children"][0]["id"] == last.out.strip()
    tree = covey("task", first).out.splitlines()[-4:]
    assert [re.split("  (?=working|pending)", line)[0] for line in tree] == [
        "lead → coder",
        "├─ coder → artist",
        "│  └─ artist → inker",
        "└─ coder → critic",
    ]
    spent = covey("delegate", "once more", "--from", "inker", "--to", "lead", "--no-wait", "--for", last.out.strip())
    assert (spent.code, "has no hops left" in spent.err) == (REFUSED, True)


def test_tasks_are_listed_by_who_does_them_who_wants_them_and_scope(covey: Covey) -> None:
    first = handed_over(covey, "one", "--scope", "T-1")
    second = handed_over(covey, "two", to="critic")
    does(covey, first, ("--start",), ("--complete", "done"))

    def listed(*words: str) -> list[str]:
        return [task["id"] for task in covey("tasks", *words, "--json").json]

    assert listed() == [second]
    assert listed("--all") == [first, second]
    assert listed("--all", "--agent", "coder") == listed("--all", "--scope", "T-1") == [first]
    assert listed("--all", "--from", "lead") == [first, second]
    assert listed("--all", "--from", "coder") == []
    assert listed("--all", "--limit", "1") == [second]
    shown = covey("tasks", "--all")
    assert [line.split()[:3] for line in shown.out.splitlines()[1:]] == [
        ["coder:1", "completed", "lead"],
        ["critic:1", "pending", "lead"],
    ]
    assert covey("tasks", "--all", "--limit", "1").err == "The newest 1; --limit shows more.\n"
    assert covey("tasks", "--scope", "T-1").out.startswith("No task that is not finished of that kind. `--all`")


def test_each_end_has_an_exit_code_of_its_own_and_says_why(covey: Covey) -> None:
    waiting = handed_over(covey)
    said = ended(covey, waiting)
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert said.err.startswith("coder has not finished it yet: it is pending. The task goes on;")
    assert "  covey task coder:1 --wait 1h\n" in said.err
    assert covey("reject", waiting, "--from", "coder", "--reason", "no time").code == DONE
    assert ended(covey, waiting) == Said(
        REJECTED, "", "Task coder:1 was rejected: no time.\nMore of it: covey task coder:1\n"
    )
    failing = handed_over(covey)
    does(covey, failing, ("--start",), ("--fail", "there is no parser"))
    said = ended(covey, failing)
    assert (said.code, said.out, said.err.splitlines()[0]) == (
        FAILED,
        "",
        "Task coder:2 has failed: there is no parser.",
    )
    cancelled = handed_over(covey)
    assert covey("cancel", cancelled, "--from", "lead", "--reason", "done by others").code == DONE
    said = covey("task", cancelled, "--wait", "0s", "--json")
    assert (said.code, said.json["reason"]) == (FAILED, "cancelled: done by others")


def test_a_task_delegated_again_with_the_same_id_is_the_same_task(covey: Covey) -> None:
    assert handed_over(covey, "fix it", "--id", NO_TASK) == handed_over(covey, "fix it", "--id", NO_TASK) == NO_TASK
    assert len(covey("tasks", "--json").json) == 1
    does(covey, NO_TASK, ("--start",), ("--complete", "done"))
    again = covey("delegate", "fix it", "--from", "lead", "--to", "coder", "--id", NO_TASK)
    assert again == Said(DONE, "done\n", ""), "and so it waits on for the same result"


def test_an_update_names_its_task(covey: Covey) -> None:
    task = handed_over(covey)
    does(covey, task, ("--start",), ("--progress", "half"))
    updates = covey("inbox", "lead", "--json").json
    assert covey("task", str(updates[-1]["number"]), "--agent", "lead", "--json").json["id"] == task
    assert covey("task", updates[-1]["id"], "--json").json["id"] == task


def test_text_comes_from_stdin(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    task = handed_over(covey)
    does(covey, task, ("--start",))
    for words, text in ((("--progress", "-"), b"half of it"), (("--complete",), b"all of it")):
        reading, writing = os.pipe()
        os.write(writing, text)
        os.close(writing)
        with os.fdopen(reading) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert covey("update", task, "--as", "coder", *words).code == DONE
    assert ended(covey, task).out == "all of it\n"


def test_files_are_saved_side_by_side_and_nothing_is_written_over(covey: Covey, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("the plan")
    task = handed_over(covey, "fix it", "--file", "notes.txt")
    notes.write_text("the result")
    does(covey, task, ("--start",), ("--complete", "done", "--file", "notes.txt"))
    said = covey("task", task, "--save", "out/here", "--json")
    assert said.json["saved"] == ["out/here/notes.txt", "out/here/notes-2.txt"]
    assert (tmp_path / "out/here/notes.txt").read_text() == "the plan"
    assert (tmp_path / "out/here/notes-2.txt").read_text() == "the result"
    assert covey("task", task, "--save", "out/here").code == DONE, "the same again is nothing new"
    (tmp_path / "out/here/notes-2.txt").write_text("mine")
    refused = covey("task", task, "--save", "out/here", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (REFUSED, "would-overwrite")
    assert (tmp_path / "out/here/notes-2.txt").read_text() == "mine"
    assert covey("task", task, "--save", "out/here", "--replace").code == DONE
    assert (tmp_path / "out/here/notes-2.txt").read_text() == "the result"
    (tmp_path / "file").write_text("")
    assert covey("task", task, "--save", "file").code == USAGE


def test_a_file_whose_name_leads_elsewhere_is_saved_in_the_folder_all_the_same(covey: Covey, tmp_path: Path) -> None:
    ports = connect_inline(parse_store_url(f"sqlite:{tmp_path}/.covey/covey.db"), ())
    services = Services(ports)
    names = ("../../evil.txt", "..", "a\\b.txt", "/etc/c.txt")
    parts = [FilePart(name, finish(ports.blobs.put(name.encode())), len(name)) for name in names]
    task = Draft(Kind.TASK, (parse_address("coder"),), tuple(parts))
    policy = SendPolicy(when_unknown=WhenUnknown.REGISTER)
    finish(services.tasks.delegate(task, services.identities.claim(parse_agent_name("lead")), policy))
    finish(ports.close())
    assert covey("task", "coder:1", "--save", "deep/er").code == DONE
    saved = {path.name: path.read_bytes() for path in (tmp_path / "deep" / "er").iterdir()}
    assert saved == {
        "evil.txt": b"../../evil.txt",
        parts[1].digest[:12]: b"..",
        "b.txt": b"a\\b.txt",
        "c.txt": b"/etc/c.txt",
    }


def test_an_agent_shows_its_tasks_and_its_quota(covey: Covey) -> None:
    assert covey("join", "coder", "--quota", "2", "--lease", "1h", "--export").code == DONE
    task = handed_over(covey)
    does(covey, task)
    (coder,) = covey("agents", "coder", "--json").json
    assert (coder["current_tasks"], coder["quota"], coder["presence"]) == ([task], 2, "busy")
    assert "1 of 2" in covey("agents", "coder").out


def test_over_the_quota_a_task_waits_or_is_rejected_as_the_card_says(covey: Covey) -> None:
    assert covey("join", "coder", "--quota", "1", "--lease", "1h", "--export").code == DONE
    first, second = handed_over(covey), handed_over(covey)
    does(covey, first)
    full = covey("accept", second, "--as", "coder", "--json")
    assert (full.code, full.json["error"]["code"]) == (REFUSED, "quota-full")
    assert "`covey tasks --agent NAME`" in covey("accept", second, "--as", "coder").err
    assert covey("join", "coder", "--overflow", "reject", "--lease", "1h", "--export").code == DONE
    said = covey("delegate", "more", "--from", "lead", "--to", "coder")
    assert (said.code, said.out) == (REJECTED, "")
    assert "coder has 2 of 1 tasks and queues none" in said.err
    assert covey("accept", second, "--as", "coder").code == REJECTED
    assert covey("task", second, "--json").json["reason"] == "coder has 1 tasks, and its quota is 1"


def test_an_agent_with_a_quota_of_0_takes_none_and_its_token_does_not_see_what_never_reached_it(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert covey("join", "coder", "--quota", "0", "--lease", "1h", "--export").code == DONE
    for words in (("--no-wait",), ("--wait", "1s"), ("--json",)):
        said = covey("delegate", "fix it", "--from", "lead", "--to", "coder", *words)
        assert said.code == REJECTED
        assert "takes no tasks (its quota is 0)" in said.err + said.out
    token = covey("token", "create", "coder", "--json").json["token"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    assert covey("tasks", "--all", "--json") == Said(DONE, "[]\n", "")


def test_a_task_can_be_approved_too_which_accepts_it(covey: Covey) -> None:
    handed_over(covey)
    assert covey("approve", "coder:1", "--from", "coder").out == "coder:1 is accepted.\n"
    said = covey("reject", "coder:1", "--from", "coder", "--reason", "no time")
    assert (said.code, "`covey update ID --fail WHY` gives it up" in said.err) == (REFUSED, True)


@pytest.mark.parametrize(
    ("words", "code", "error", "says"),
    [
        (["delegate", "x", "--from", "lead", "--to", "codr"], NOT_FOUND, "messages-recipient-unknown", "mean coder?"),
        (["delegate", "--from", "lead"], USAGE, "invalid", "`covey delegate AGENT TEXT`"),
        (["delegate", "x", "--to", "coder"], USAGE, "invalid", "name the acting agent"),
        (["delegate", "x", "--from", "lead", "--to", "coder", "--to", "lead"], USAGE, "invalid", "goes to one agent"),
        (["delegate", "x", "--from", "lead", "--to", "*"], USAGE, "invalid", "goes to one agent"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--deadline", "0s"], USAGE, "invalid", "passed already"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--deadline", "soon"], USAGE, "invalid", "90s, 10m, 2h, 3d"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--wait", "5"], USAGE, "invalid", "use 90s, 10m"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--wait", "5s", "--no-wait"], USAGE, "usage", "not allowed"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--data", "{"], USAGE, "invalid", "it is no JSON"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--callback", "desk"], USAGE, "invalid", "CHANNEL:CONV"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--file", "none"], USAGE, "invalid", "no such file"),
        (
            ["delegate", "x", "--from", "a", "--to", "coder", "--file", "/etc/passwd"],
            REFUSED,
            "file-outside-roots",
            "Copy the file into this folder",
        ),
        (["delegate", "x", "--from", "a", "--to", "coder", "--for", NO_TASK], NOT_FOUND, "task-unknown", "covey tasks"),
        (["delegate", "x", "--from", "a", "--to", "coder", "--for", "coder:1"], NOT_FOUND, "task-unknown", "no task"),
        (["tasks", "--agent", "codr"], NOT_FOUND, "messages-recipient-unknown", "did you mean coder?"),
        (["tasks", "--limit", "0"], USAGE, "usage", "1 or more"),
        (["tasks", "--watch", "--for", "ever"], USAGE, "invalid", "use 90s, 10m"),
        (["task"], USAGE, "invalid", "`covey tasks` lists them"),
        (["task", "nope"], USAGE, "invalid", "MILLISECONDS-UUID"),
        (["task", NO_TASK], NOT_FOUND, "task-unknown", "`covey tasks --all` lists them"),
        (["task", "coder:1"], NOT_FOUND, "task-unknown", "`covey thread ID` shows a message that is no task"),
        (["task", "coder:99"], NOT_FOUND, "number-unknown", "no message with the number 99"),
        (["task", "codr:2"], NOT_FOUND, "messages-recipient-unknown", "did you mean coder?"),
        (["accept", "coder:2", "--as", "lead"], REFUSED, "not-yours", "only coder or the operator can"),
        (["accept", "coder:1", "--as", "coder"], NOT_FOUND, "task-unknown", "covey tasks"),
        (["update", "coder:2", "--as", "coder"], USAGE, "usage", "--start --progress --complete --fail is required"),
        (["update", "--start", "--as", "coder"], USAGE, "invalid", "`covey tasks` lists them"),
        (["update", "coder:2", "--as", "coder", "--start"], REFUSED, "illegal-move", "`covey accept ID`"),
        (["update", "coder:2", "--as", "coder", "--complete", "x"], REFUSED, "illegal-move", "`covey accept ID`"),
        (["update", "coder:3", "--as", "coder", "--complete", "x"], REFUSED, "illegal-move", "covey update ID --start"),
        (["update", "coder:3", "--as", "coder", "--progress", "x"], REFUSED, "illegal-move", "covey update ID --start"),
        (["update", "coder:4", "--as", "coder", "--fail", "x"], REFUSED, "illegal-move", "`covey task ID`"),
        (["update", "coder:3", "--as", "coder", "--fail", " "], USAGE, "invalid", "say why"),
        (["update", "coder:3", "--as", "coder", "--start", "--attempt", "7"], REFUSED, "task-taken", "`covey task ID`"),
        (["update", "coder:3", "--as", "coder", "--start", "--data", "1"], USAGE, "invalid", "go along with"),
        (["update", "coder:3", "--as", "lead", "--start"], REFUSED, "not-yours", "Act as the agent"),
        (["reject", "coder:2", "--from", "coder"], USAGE, "invalid", "say why"),
        (["reject", "coder:3", "--from", "coder", "--reason", "x"], REFUSED, "illegal-move", "--fail WHY"),
        (["cancel", "coder:2", "--from", "coder"], REFUSED, "not-yours", "only lead or the operator can"),
        (["cancel", "coder:4", "--from", "lead"], REFUSED, "illegal-move", "`covey task ID`"),
        (["cancel", "coder:1", "--from", "lead"], NOT_FOUND, "task-unknown", "covey tasks"),
    ],
)
def test_a_wrong_command_changes_nothing_and_says_what_to_do(
    covey: Covey, words: Sequence[str], code: int, error: str, says: str
) -> None:
    """The coder has a note (1), a task that waits (2), one that it accepted (3) and one that is finished (4)."""
    assert covey("send", "a note", "--from", "lead", "--to", "coder", "--register").code == DONE
    tasks = [handed_over(covey) for _ in range(3)]
    does(covey, tasks[1])
    assert covey("cancel", tasks[2], "--from", "lead").code == DONE
    before = covey("log", "--json").out
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    as_json = covey(*words, "--json")
    assert (as_json.code, as_json.json["error"]["code"]) == (code, error)
    assert covey("log", "--json").out == before
