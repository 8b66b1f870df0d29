"""An agent on duty: its start, the ways to stop its programs, its end, and recovery after a crash."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import covey
from covey.composition import launcher
from covey.ports.launcher import EndReason, Program
from covey.runtime.programs.folders import TaskFolders
from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, REFUSED, USAGE
from tests.surfaces.commands import Folder, Started
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import CTRL_C, Terminal
from tests.surfaces.work.desk import Desk, marked


@pytest.fixture
def begun(desk: Desk) -> Generator[Started]:
    """A worker in its own process, with a program that runs until it is stopped."""
    desk.delegate("sleep")
    with _start(desk, desk.program("print('::progress asleep', flush=True)\ntime.sleep(600)")) as started:
        while "progress" not in started.line():
            pass
        yield started


def _start(desk: Desk, command: str, *more: str) -> Started:
    return Folder(desk.folder).start("work", "coder", "--run", command, "--json", "--grace", "1s", *more)


def _tasks(desk: Desk) -> list[str]:
    return [task["id"] for task in desk.covey("tasks", "--all", "--json").json]


# ------------------------------------------------------------------------------------------------------- the start


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        ("no-such-program {prompt}", NOT_FOUND, "program-not-found"),
        ("./no-such-program", NOT_FOUND, "program-not-found"),
        ("./plain-file", REFUSED, "program-not-executable"),
        ("/", REFUSED, "program-not-executable"),
        ("sh -c 'open", USAGE, "invalid"),
        ("", USAGE, "invalid"),
        ("{prompt}", USAGE, "invalid"),
    ],
)
def test_a_command_that_can_not_be_run_is_reported_before_any_task_is_taken(
    desk: Desk, command: str, code: int, error: str
) -> None:
    (desk.folder / "plain-file").write_text("nothing to run")
    task = desk.delegate("do it")
    said = desk.work(command, "--json")
    assert (said.code, said.json["error"]["code"]) == (code, error)
    assert desk.ended(task).state == "pending"


@pytest.mark.parametrize(
    "wrong", [("--concurrency", "0"), ("--time-limit", "0s"), ("--quota", "0"), ("--drain", "soon"), ("--keep", "-1")]
)
def test_invalid_values_of_options_are_usage_errors(desk: Desk, wrong: tuple[str, str]) -> None:
    assert desk.work("true", *wrong).code == USAGE


def test_a_space_in_memory_is_refused(covey: Covey) -> None:
    assert covey("work", "coder", "--run", "true", "--store", "memory:").code == USAGE


def test_a_folder_that_can_not_be_created_is_reported(desk: Desk) -> None:
    (desk.folder / "file").touch()
    assert desk.work("true", "--folder", "file/work").code == USAGE


def test_the_card_is_kept_and_a_concurrency_over_the_quota_is_reported(desk: Desk) -> None:
    card = ("--quota", "2", "--description", "writes code", "--capability", "python")
    said = desk.work("true", *card, "--concurrency", "5")
    assert "--quota 5" in said.err
    assert "--quota" not in desk.work("true").err
    (agent,) = desk.covey("agents", "--json").json
    assert (agent["quota"], agent["description"]) == (2, "writes code")


def test_an_agents_token_can_work_and_the_operators_cannot(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    task = desk.delegate("do it")
    tokens = [desk.covey("token", "create", *who, "--json").json["token"] for who in (["coder"], ["--operator"])]
    monkeypatch.setenv("COVEY_TOKEN", tokens[1])
    assert desk.work("echo no").code == REFUSED
    monkeypatch.setenv("COVEY_TOKEN", tokens[0])
    assert desk.work("echo yes").code == DONE
    monkeypatch.delenv("COVEY_TOKEN")
    assert desk.ended(task).text == "yes"


def test_the_folders_of_tasks_are_private_bounded_and_healthy_for_the_doctor(desk: Desk) -> None:
    tasks = [desk.delegate(f"task {n}") for n in range(4)]
    desk.work(desk.program("os.umask(0)\n(output / 'open.txt').write_text('x')"), "--keep", "2")
    root = desk.folder / ".covey" / "work" / "coder"
    assert sorted(path.name for path in root.iterdir()) == tasks[1:], "the one that begins is not counted yet"
    assert {path.stat().st_mode & 0o777 for path in (root.parent, root, *root.glob("*"), *root.glob("*/*"))} == {0o700}
    assert desk.covey("doctor").code == DONE


# --------------------------------------------------------------------------------------------- stopped programs


def test_a_cancelled_task_ends_its_program_and_the_worker_goes_on(desk: Desk, begun: Started) -> None:
    (task,) = _tasks(desk)
    assert desk.covey("cancel", task, "--from", "ann", "--reason", "enough").code == DONE
    over = begun.line()
    assert '"event": "over"' in over
    assert "enough" in over
    assert marked("COVEY_TASK", task) == []
    another = desk.delegate("sleep again")
    assert another in begun.line()


def test_a_deadline_ends_the_program(desk: Desk) -> None:
    task = desk.delegate("sleep", "--deadline", "1s")
    desk.work(desk.program("time.sleep(600)"), "--grace", "0s")
    ended = desk.ended(task)
    assert (ended.state, ended.reason) == ("failed", "its deadline passed")
    assert marked("COVEY_TASK", task) == []


def test_a_program_that_ignores_sigterm_is_killed_at_its_time_limit(desk: Desk) -> None:
    task = desk.delegate("sleep")
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('stubborn', flush=True)\ntime.sleep(600)"
    desk.work(desk.program(stubborn), "--time-limit", "1s", "--grace", "0s")
    ended = desk.ended(task)
    assert ended.state == "failed"
    assert "took longer than its time limit of 1 s" in ended.reason
    assert "stubborn" in ended.text


# ------------------------------------------------------------------------------------------------------ the end


def test_after_sigterm_running_programs_finish_and_no_task_is_taken(desk: Desk) -> None:
    first = desk.delegate("first")
    waits = desk.program("print('::progress begun', flush=True)\nwhile not Path('go').exists(): time.sleep(0.01)")
    with _start(desk, waits) as started:
        while "progress" not in started.line():
            pass
        started.process.send_signal(signal.SIGTERM)
        assert '"stopping"' in started.line()
        second = desk.delegate("second")
        (desk.folder / "go").touch()
        assert started.end().code == DONE
    assert [desk.ended(task).state for task in (first, second)] == ["completed", "pending"]


def test_a_second_signal_stops_programs_and_the_next_worker_retries_the_task(desk: Desk, begun: Started) -> None:
    (task,) = _tasks(desk)
    for _ in range(2):
        begun.process.send_signal(signal.SIGINT)
        assert '"stopping"' in begun.line()
    said = begun.end()
    assert said.code == INTERRUPTED
    assert '"left"' in said.out
    assert marked("COVEY_TASK", task) == []
    assert desk.ended(task).state == "working"
    desk.work("echo attempt {task}")
    assert (desk.ended(task).state, desk.covey("task", task, "--json").json["attempt"]) == ("completed", 2)


def test_a_program_that_outlasts_the_drain_time_is_stopped(desk: Desk) -> None:
    task = desk.delegate("sleep")
    with _start(desk, desk.program("print('::progress x', flush=True)\ntime.sleep(600)"), "--drain", "0s") as started:
        while "progress" not in started.line():
            pass
        started.process.send_signal(signal.SIGTERM)
        assert started.end().code == INTERRUPTED
    assert (desk.ended(task).state, marked("COVEY_TASK", task)) == ("working", [])


def test_programs_of_a_killed_worker_end_and_the_next_worker_retries_the_task(desk: Desk, begun: Started) -> None:
    (task,) = _tasks(desk)
    begun.process.kill()
    begun.process.wait()
    said = desk.work("echo again", "--json")
    assert [line["attempt"] for line in said.json_lines if line["event"] == "taken"] == [2]
    assert (desk.ended(task).text, marked("COVEY_TASK", task)) == ("again", [])


# ---------------------------------------------------------------------------------------- recovery after a crash


async def _left_behind(desk: Desk, task: str, *argv: str, ends: bool) -> EndReason | None:
    """Take a task and run its program like a worker that dies before it reports the result."""
    folder = desk.folder / ".covey" / "work" / "coder"
    async with covey.open(f"sqlite:{desk.folder}/.covey/covey.db") as space:
        coder = await space.join("coder")
        taken = await coder.take(timeout=0)
        assert taken is not None
        await taken.start()
        folders = TaskFolders(folder)
        folders.make_root()
        run = folders.new_run(task, taken.attempt)
        (run.output / "artifact.txt").write_text("left")
        programs = launcher()
        try:
            env = {**os.environ, "COVEY_TASK": task}
            running = await programs.start(Program(argv, str(desk.folder), env, str(run.run), run.id))
            if ends:
                return (await running.wait()).ending
            await coder.leave()
            work = asyncio.to_thread(desk.work, "echo anew")
            async with asyncio.TaskGroup() as group:
                group.create_task(work)
            return (await running.wait()).ending
        finally:
            await programs.close()


def test_a_run_with_an_unreported_result_is_not_repeated(desk: Desk) -> None:
    task = desk.delegate("do it")
    assert asyncio.run(_left_behind(desk, task, "echo", "done long ago", ends=True)) is EndReason.EXITED
    desk.work(desk.program("Path('ran').touch()"))
    assert desk.ended(task)[:3] == ("completed", "", "done long ago")
    assert desk.ended(task).files == {"artifact.txt": b"left"}
    assert not (desk.folder / "ran").exists()


def test_an_unreported_failure_is_reported_and_not_repeated(desk: Desk) -> None:
    task = desk.delegate("do it")
    asyncio.run(_left_behind(desk, task, "sh", "-c", "echo broken >&2; exit 7", ends=True))
    desk.work(desk.program("Path('ran').touch()"))
    assert desk.ended(task).state == "failed"
    assert "exited with code 7: broken" in desk.ended(task).reason
    assert not (desk.folder / "ran").exists()


def test_a_program_left_by_an_earlier_attempt_is_killed_first(desk: Desk) -> None:
    task = desk.delegate("do it")
    assert asyncio.run(_left_behind(desk, task, "sleep", "600", ends=False)) is EndReason.ABANDONED
    assert desk.ended(task).text == "anew"


# ----------------------------------------------------------------------------------------------------------- output


def test_a_person_sees_a_line_for_each_running_task(desk: Desk) -> None:
    desk.delegate("write the parser")
    code = "print('::progress half of it', flush=True)\nwhile not Path('go').exists(): time.sleep(0.01)"
    words = ("work", "coder", "--run", desk.program(code), "--concurrency", "2")
    with Terminal(words, desk.folder, {"HOME": str(desk.folder)}) as terminal:
        terminal.until("on duty")
        terminal.until("from ann: write the parser")
        terminal.until("half of it")
        terminal.press(CTRL_C)
        terminal.until("a second Ctrl-C stops them")
        (desk.folder / "go").touch()
        terminal.until("completed")
        terminal.ends_with(DONE)
        terminal.check_fits()


def test_without_a_terminal_there_is_a_line_for_each_event(desk: Desk) -> None:
    task = desk.delegate("write the parser")
    said = desk.work(f"{shlex.quote(sys.executable)} -c 'print(1)'")
    lines = [line.split()[1:3] for line in said.out.splitlines()]
    assert lines == [["taken", task], ["started", task], ["completed", task]]
    assert Path(desk.folder, ".covey", "work").is_dir()
