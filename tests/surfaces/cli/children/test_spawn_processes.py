"""Children as processes: detached, interrupted, killed, and watched by a person."""

import json
import os
import signal
import sys

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED, LOST, NOT_FOUND, REFUSED, STOPPED, UNAVAILABLE
from tests.surfaces.commands import Folder
from tests.surfaces.terminal import CTRL_C, Terminal

HELLO = "sh -c 'echo hello from {label}'"
SLEEPER = "sh -c 'echo $$ > pid; echo so far; exec sleep 60'"


def pid_in(folder: Folder) -> int:
    """Wait until a child of `lead` runs, and return the process id that the child has written."""
    assert any(is_running(folder) for _ in range(100))
    return int(folder.run(["sh", "-c", "until [ -s pid ]; do sleep 0.02; done; cat pid"]).out)


def is_running(folder: Folder) -> bool:
    runs = [node["run"] for node in folder.covey("sessions", "--json").json]
    return any(run is not None and run["stage"] == "return" for run in runs)


def supervisor_in(folder: Folder) -> int:
    """Return the process id of the supervisor of a detached child.

    Only the environment of the supervisor names the folder; its arguments do not.
    """
    lines = folder.run(["ps", "axeww", "-o", "pid=,args="]).out.splitlines()
    (found,) = [line for line in lines if f"{folder.path}/" in line and "--supervise" in line]
    return int(found.split()[0])


def wait_until_gone(folder: Folder, pid: int) -> None:
    assert folder.run(["sh", "-c", f"while kill -0 {pid} 2>/dev/null; do sleep 0.02; done"]).code == 0


def test_a_detached_child_is_listed_gets_messages_and_is_stopped(folder: Folder) -> None:
    started = folder.covey("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--label", "slow", "--detach")
    assert started.code == DONE, started.err
    run_id = started.out.strip()
    pid = pid_in(folder)
    lead, child = folder.covey("sessions", "--json").json
    assert (lead["agent"], lead["is_live"], lead["run"]) == ("lead", False, None)
    assert (child["run"]["run"], child["run"]["state"], child["above"]) == (run_id, "running", lead["id"])
    shown = folder.covey("sessions").out.splitlines()
    assert shown[0].startswith("lead  no session")
    assert shown[1].startswith("└─ slow (lead)  running  ")
    assert f"  {run_id[:8]}  Wait." in shown[1]
    assert shown[2].strip() == child["key"]
    with Terminal(["sessions"], folder.path, folder.environment) as terminal:
        terminal.ends_with(DONE)
        terminal.check_fits()
    assert folder.covey("say", "slow", "Hurry.", "--from", "lead").code == DONE
    asked = folder.covey("say", run_id[:8], "How far?", "--from", "lead", "--wait", "0s")
    assert (asked.code, "covey ask --as lead --ticket" in asked.err) == (UNAVAILABLE, True)
    stopped = folder.covey("stop", "slow", "--reason", "enough", "--json")
    assert (stopped.code, stopped.json["state"], stopped.json["reason"]) == (DONE, "stopped", "enough")
    wait_until_gone(folder, pid)
    assert folder.covey("stop", child["key"]).out == "The child slow (lead) had ended already: stopped.\n"
    assert folder.covey("say", "slow", "Hm?", "--from", "lead").code == REFUSED
    assert folder.covey("sessions", "--json").json == []
    (_, ended) = folder.covey("sessions", "--all", "--json").json
    assert (ended["is_live"], ended["run"]["state"]) == (False, "stopped")
    answers = [item for item in folder.covey("inbox", "lead", "--json").json if item["kind"] == "response"]
    assert ["so far" in item["text"] for item in answers] == [True]


def test_a_detached_child_can_be_waited_for(folder: Folder) -> None:
    words = ("spawn", "Do it.", "--from", "lead", "--run", HELLO, "--label", "greeter")
    assert folder.covey(*words, "--wait", "20s").out == "hello from greeter\n"
    slow = folder.covey("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--wait", "1s", "--label", "slow")
    assert slow.code == UNAVAILABLE
    assert "covey stop slow" in slow.err
    assert folder.covey("stop", "slow").code == DONE


def test_ctrl_c_while_waiting_leaves_a_detached_child_running(folder: Folder) -> None:
    words = ("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--label", "slow", "--wait", "1h")
    with Terminal(words, folder.path, folder.environment) as terminal:
        terminal.until("Ctrl-C leaves it there.")
        terminal.press(CTRL_C)
        terminal.until("It goes on")
        terminal.ends_with(INTERRUPTED)
        terminal.check_fits()
    assert is_running(folder)
    assert folder.covey("stop", "slow").code == DONE


def test_an_error_of_a_detached_spawn_is_reported(folder: Folder) -> None:
    said = folder.covey("spawn", "nobody", "x", "--from", "lead", "--detach")
    assert (said.code, said.out, said.err.count("\n")) == (NOT_FOUND, "", 1)
    as_json = folder.covey("spawn", "nobody", "x", "--from", "lead", "--detach", "--json")
    assert (as_json.code, as_json.json["error"]["code"]) == (NOT_FOUND, "messages-recipient-unknown")


def test_the_limit_of_a_session_s_children_holds(folder: Folder) -> None:
    joined = folder.covey("join", "lead", "--lease", "1h", "--max-children", "1", "--json").json
    within = dict(joined["environment"])
    first = folder.run([sys.executable, "-m", "covey", "spawn", "x", "--run", SLEEPER, "--detach", "--json"], **within)
    assert first.json["parent"] == joined["session"]
    second = folder.run([sys.executable, "-m", "covey", "spawn", "x", "--run", "true", "--json"], **within)
    assert (second.code, second.json["error"]["code"]) == (REFUSED, "spawn-limit")
    assert folder.covey("stop", first.json["run"]).code == DONE
    third = folder.run([sys.executable, "-m", "covey", "spawn", "x", "--run", "echo room"], **within)
    assert (third.code, third.out) == (DONE, "room\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_child_and_returns_its_output_so_far(folder: Folder, number: int) -> None:
    with folder.start("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--json") as started:
        pid = pid_in(folder)
        started.process.send_signal(number)
        said = started.end()
    assert (said.code, said.json["status"]) == (INTERRUPTED, "stopped"), said
    assert "so far" in said.json["text"]
    wait_until_gone(folder, pid)
    assert not any((folder.path / ".covey" / "runs").iterdir())


def test_a_second_interrupt_kills_a_child_that_does_not_stop(folder: Folder) -> None:
    deaf = "sh -c 'trap \"echo told > told\" TERM; echo $$ > pid; while :; do sleep 0.05; done'"
    with folder.start("spawn", "Wait.", "--from", "lead", "--run", deaf, "--json") as started:
        pid = pid_in(folder)
        started.process.send_signal(signal.SIGINT)
        assert folder.run(["sh", "-c", "until [ -e told ]; do sleep 0.02; done"]).code == 0
        started.process.send_signal(signal.SIGINT)
        said = started.end()
    assert (said.code, said.json["status"]) == (INTERRUPTED, "stopped"), said
    wait_until_gone(folder, pid)


def test_when_the_supervisor_is_killed_the_child_ends_and_its_run_is_lost(folder: Folder) -> None:
    with folder.start("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--label", "slow") as started:
        pid = pid_in(folder)
        started.process.kill()
        started.end()
    wait_until_gone(folder, pid)
    assert folder.covey("sessions", "--json").json == []
    (_, child) = folder.covey("sessions", "--all", "--json").json
    assert child["run"]["state"] == "lost"
    # The next process that does maintenance in the space sends the result to the parent.
    assert folder.covey("spawn", "x", "--from", "lead", "--run", "true").code == DONE
    (told,) = folder.covey("inbox", "lead", "--json").json
    assert (told["kind"], told["marks"]["status"]) == ("response", "lost")


def test_a_command_that_waits_for_a_detached_child_reports_that_the_child_is_lost(folder: Folder) -> None:
    words = ("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--wait", "20s", "--json")
    with folder.start(*words) as started:
        pid_in(folder)
        (child,) = [node for node in folder.covey("sessions", "--json").json if node["run"]]
        os.kill(supervisor_in(folder), signal.SIGKILL)
        said = started.end()
    assert (said.code, said.json["status"], said.json["run"]["run"]) == (LOST, "lost", child["run"]["run"])


def test_a_waiting_spawn_reports_that_another_command_stopped_the_child(folder: Folder) -> None:
    with folder.start("spawn", "Wait.", "--from", "lead", "--run", SLEEPER, "--label", "slow") as started:
        pid_in(folder)
        assert folder.covey("stop", "slow", "--reason", "no longer needed").code == DONE
        said = started.end()
    assert said.code == STOPPED
    assert "was stopped: no longer needed" in said.err


def test_a_child_in_session_mode_answers_messages_until_it_is_stopped(folder: Folder) -> None:
    assert folder.covey("channels", "add", "desk", "--console").code == DONE
    words = ("--mode", "session", "--thread", "desk:42", "--label", "helper", "--run", "echo you said: {task}")
    with folder.start("spawn", "First.", "--from", "lead", *words) as started:
        assert started.line() == "you said: First."
        answer = folder.covey("say", "helper", "Second.", "--from", "lead", "--wait", "20s")
        assert (answer.code, answer.out) == (DONE, "you said: Second.\n"), answer.err
        assert folder.covey("stop", "helper").code == DONE
        assert started.end().code == DONE


def test_a_person_sees_progress_and_stops_the_child_with_a_key(folder: Folder) -> None:
    program = "sh -c 'echo ::progress half of it; echo so far; exec sleep 60'"
    with Terminal(["spawn", "Wait.", "--from", "lead", "--run", program], folder.path, folder.environment) as terminal:
        terminal.until("Ctrl-C stops it.")
        terminal.until("progress    half of it")
        terminal.press(CTRL_C)
        terminal.until("Once more kills it.")
        terminal.until("was stopped")
        terminal.ends_with(INTERRUPTED)
        assert "so far" in terminal.shown


def test_a_person_watches_the_tree(folder: Folder) -> None:
    with Terminal(["sessions", "--watch"], folder.path, folder.environment) as terminal:
        terminal.until("No session is live.")
        label = "a-rather-long-label"
        words = ("spawn", "Wait. " * 30, "--from", "lead", "--run", SLEEPER, "--label", label, "--detach")
        assert folder.covey(*words).code == DONE
        terminal.until(label)
        assert folder.covey("stop", label).code == DONE
        terminal.press(b"q")
        terminal.ends_with(DONE)


def test_programs_watch_the_tree_as_it_changes(folder: Folder) -> None:
    with folder.start("sessions", "--watch", "--json") as watching:
        assert json.loads(watching.line()) == []
        assert folder.covey("join", "coder", "--lease", "1h", "--json").code == DONE
        (seen,) = json.loads(watching.line())
        assert (seen["agent"], seen["key"]) == ("coder", "agent:coder:main")
        watching.process.send_signal(signal.SIGINT)
        assert watching.end().code == INTERRUPTED


ASKER = """\
#!/bin/sh
until covey waits --blocked --json | grep -q '"waiter": "lead"'; do :; done
covey ask --to lead 'Which style?' --timeout 15s 2>&1
"""


@pytest.mark.requirement("storm.cycle")
@pytest.mark.parametrize("waiting", [(), ("--wait", "20s")])
def test_a_child_that_asks_its_waiting_parent_is_refused_with_the_path(
    folder: Folder, waiting: tuple[str, ...]
) -> None:
    script = folder.path / "asker.sh"
    script.write_text(ASKER)
    script.chmod(0o700)
    said = folder.covey("spawn", "coder", "Format it.", "--from", "lead", "--run", "./asker.sh", *waiting)
    assert "this wait would be a deadlock, coder → lead → coder" in said.out, said.err
    assert folder.covey("waits", "--json").json == []


def test_an_interrupted_wait_for_a_detached_child_removes_its_edge(folder: Folder) -> None:
    words = ("spawn", "coder", "Wait.", "--from", "lead", "--run", "sleep 60", "--label", "slow", "--wait", "30s")
    with folder.start(*words) as started:
        while not (edges := folder.covey("waits", "--blocked", "--json").json):
            assert started.process.poll() is None
        assert [(edge["waiter"], edge["awaited"]) for edge in edges] == [("lead", "coder")]
        started.process.send_signal(signal.SIGINT)
        assert started.end().code == INTERRUPTED
    assert folder.covey("waits", "--blocked", "--json").json == []
    assert folder.covey("stop", "slow").code == DONE
