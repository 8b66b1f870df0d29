"""Tasks among real processes: one waits while others do the work, is interrupted, or watches."""

import asyncio
import json
import signal
import time
from pathlib import Path

import covey as api
from covey.surfaces.cli.exits import DONE, FAILED, INTERRUPTED, REFUSED
from tests.surfaces.commands import Folder, Said

DELEGATE = ("delegate", "fix the parser", "--from", "lead", "--to", "coder", "--register")
CODER = ("--as", "coder")


def pending(folder: Folder) -> str:
    """Wait until the coder has a task that it can accept; return its id."""
    ends_at = time.monotonic() + 20
    while not (tasks := folder.covey("tasks", "--json").json):
        assert time.monotonic() < ends_at, "nothing was handed over"
    return tasks[0]["id"]


def joined(folder: Folder, name: str) -> dict[str, str]:
    """Start a session of an agent; return the environment that acts as it."""
    return folder.covey("join", name, "--lease", "1h", "--json").json["environment"]


def test_one_process_waits_while_others_accept_tell_and_complete(folder: Folder) -> None:
    with folder.start_woken_only(*DELEGATE) as waiting:
        task = pending(folder)
        assert folder.covey("accept", task, *CODER).code == DONE
        assert folder.covey("update", task, *CODER, "--start").code == DONE
        assert folder.covey("update", task, *CODER, "--progress", "half").code == DONE
        assert folder.covey("update", task, *CODER, "--complete", "it is fixed").code == DONE
        assert waiting.end() == Said(DONE, "it is fixed\n", ""), "a program gets the result and nothing else"
    assert folder.covey("inbox", "lead", "--json").json == []


def test_programs_that_wait_get_one_object_at_the_end(folder: Folder) -> None:
    with folder.start(*DELEGATE, "--json") as waiting:
        task = pending(folder)
        assert folder.covey("accept", task, *CODER).code == DONE
        assert folder.covey("update", task, *CODER, "--fail", "no parser", "--data", '{"tried": 3}').code == DONE
        said = waiting.end()
    assert (said.code, said.json["id"], said.json["state"], said.json["reason"]) == (
        FAILED,
        task,
        "failed",
        "no parser",
    )
    assert said.json["result"]["parts"][1]["data"] == {"tried": 3}


def test_who_is_interrupted_leaves_the_task_there_and_says_how_to_look_again(folder: Folder) -> None:
    for as_json in (False, True):
        with folder.start(*DELEGATE, *(("--json",) if as_json else ())) as waiting:
            pending(folder)
            waiting.process.send_signal(signal.SIGINT)
            said = waiting.end()
        # Where the signal comes in the midst of an import, Python ends by the signal itself. A shell sees 130 anyway.
        assert said.code in (INTERRUPTED, -signal.SIGINT)
        task = folder.covey("tasks", "--json").json[0]
        assert task["state"] == "pending"
        if as_json:
            assert (said.json["state"], said.json["resume"]) == (
                "pending",
                ["covey", "task", task["id"], "--wait", "1h"],
            )
        else:
            assert said.err.startswith("Interrupted. The task goes on;")
            assert f"  covey cancel coder:{task['number']} --as lead\n" in said.err
        assert folder.covey("cancel", task["id"], "--from", "lead").code == DONE


def test_a_deadline_that_passes_ends_the_wait(folder: Folder) -> None:
    said = folder.covey(*DELEGATE, "--deadline", "1s")
    assert (said.code, said.out) == (FAILED, "")
    assert said.err.startswith("Task coder:1 has failed: its deadline passed.\n")


def test_a_program_that_is_run_for_a_task_needs_no_id(folder: Folder) -> None:
    me = joined(folder, "coder")
    task = folder.covey(*DELEGATE, "--no-wait").out.strip()
    assert folder.covey("accept", task, **me).code == DONE
    program = {**me, "COVEY_TASK": task, "COVEY_ATTEMPT": "1"}
    assert folder.covey("update", "--start", **program).code == DONE
    assert folder.covey("update", "--progress", "half", **program).out == "coder:1: the progress is told.\n"
    part = folder.covey("delegate", "review it", "--to", "critic", "--register", "--no-wait", **program).out.strip()
    document = folder.covey("task", part, "--json").json
    assert (document["parent"], document["trace"]) == (task, ["lead", "coder"])
    assert folder.covey("update", "--complete", "done", **program).code == DONE
    assert folder.covey("task", "--json", **program).json["state"] == "completed"


def test_a_claim_that_another_session_has_is_refused(folder: Folder) -> None:
    first, second = joined(folder, "coder"), joined(folder, "coder")
    task = folder.covey(*DELEGATE, "--no-wait").out.strip()
    assert folder.covey("accept", task, **first).code == DONE
    for words in (("accept", task), ("update", task, "--start")):
        said = folder.covey(*words, "--json", **second)
        assert (said.code, said.json["error"]["code"]) == (REFUSED, "task-taken")
    assert folder.covey("update", task, "--start", **first).code == DONE
    assert folder.covey("leave", **first).code == DONE
    assert folder.covey("update", task, "--progress", "anew", **second).code == DONE, "it takes up what was left"
    stale = {**second, "COVEY_TASK": task, "COVEY_ATTEMPT": "1"}
    said = folder.covey("update", "--progress", "from before", "--json", **stale)
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "task-taken")
    ended = folder.covey("update", task, "--progress", "after the end", "--json", **first)
    assert (ended.code, ended.json["error"]["code"]) == (REFUSED, "session-ended")
    history = folder.covey("task", task, "--json").json["history"]
    assert [(step["what"], step["attempt"]) for step in history if step["what"] in ("taken", "released")] == [
        ("taken", 1),
        ("released", 1),
        ("taken", 2),
    ]
    assert "released" in folder.covey("task", task).out


def test_watching_without_a_terminal_writes_what_there_is_and_then_each_change(folder: Folder) -> None:
    task = folder.covey(*DELEGATE, "--no-wait").out.strip()
    with (
        folder.start_woken_only("tasks", "--watch") as lines,
        folder.start("tasks", "--watch", "--json", "--agent", "coder") as documents,
    ):
        assert lines.line().split("  ", 1)[1] == "pending     coder:1 from lead: fix the parser"
        first = json.loads(documents.line())
        assert (first["event"], first["task"]["id"], first["task"]["state"]) == (None, task, "pending")
        assert folder.covey("accept", task, *CODER).code == DONE
        assert lines.line().split("  ", 1)[1] == "accepted    coder:1 from lead: fix the parser"
        assert folder.covey("update", task, *CODER, "--start").code == DONE
        assert folder.covey("update", task, *CODER, "--progress", "half").code == DONE
        assert lines.line().split("  ", 1)[1].startswith("working ")
        assert lines.line().split("  ", 1)[1] == "progress    coder:1 from lead: half"
        moves = [json.loads(documents.line())["event"] for _ in range(4)]
        assert [move["action"] for move in moves] == ["task.claimed", *["task.moved"] * 3]
        assert [move["details"]["move"] for move in moves[1:]] == ["accept", "start", "progress"]
        assert (
            folder.covey("delegate", "other", "--from", "lead", "--to", "critic", "--register", "--no-wait").code
            == DONE
        )
        assert lines.line().split("  ", 1)[1] == "delegated   critic:1 from lead: other"
        assert folder.covey("cancel", task, "--from", "lead").code == DONE
        assert lines.line().split("  ", 1)[1] == "failed      coder:1 from lead: cancelled"
        last = json.loads(documents.line())
        assert (last["task"]["id"], last["task"]["state"]) == (task, "failed"), "nothing of the critic came between"
        for watching in (lines, documents):
            watching.process.send_signal(signal.SIGINT)
            assert watching.end().code == INTERRUPTED


def test_who_watches_ends_when_nobody_reads_or_the_time_is_over(folder: Folder) -> None:
    folder.covey(*DELEGATE, "--no-wait")
    with folder.start("tasks", "--watch") as watching:
        watching.line()
        watching.close_stdout()
        assert watching.process.wait(20) == DONE
    assert folder.covey("tasks", "--watch", "--for", "0s").code == DONE


async def test_an_agent_in_python_does_what_the_command_line_hands_over(folder: Folder) -> None:
    async with api.open(f"sqlite:{folder.path}/.covey/covey.db", roots=[str(folder.path)]) as space:
        me = await space.join("coder")
        with folder.start(*DELEGATE) as waiting:
            task = await me.take(timeout=20)
            assert task is not None
            await task.start()
            (folder.path / "parser.py").write_text("fixed")
            await task.complete("it is fixed", files=[await me.attach(str(folder.path / "parser.py"))])
            said = await asyncio.to_thread(waiting.end)
    assert (said.code, said.out) == (DONE, "it is fixed\n")
    assert said.err.startswith("With it came: file parser.py, 5 bytes,")
    assert said.err.endswith("Save files with: covey task coder:1 --save FOLDER\n")
    assert folder.covey("task", "coder:1", "--save", "out").code == DONE
    assert Path(folder.path, "out", "parser.py").read_text() == "fixed"


def test_what_happens_to_tasks_is_told_to_who_watches_the_space(folder: Folder) -> None:
    task = folder.covey(*DELEGATE, "--no-wait").out.strip()
    assert folder.covey("accept", task, *CODER).code == DONE
    assert folder.covey("cancel", task, "--from", "lead", "--reason", "enough").code == DONE
    told = [line.split("  ", 1)[1] for line in folder.covey("watch", "--after", "0", "--for", "0s").out.splitlines()]
    for line in (
        "taken       task coder:1, attempt 1",
        "accepted    task coder:1",
        "failed      task coder:1: cancelled: enough",
    ):
        assert line in told
