"""The demo: real processes, a transcript of the journal, and no process or folder left at the end."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from covey.surfaces.cli.demo.script import CAST, RELEASE, RESOLVED, STALLED
from covey.surfaces.cli.exits import DONE, INTERRUPTED, UNAVAILABLE, USAGE
from covey.surfaces.cli.main import main
from covey.surfaces.cli.terminal.text import cells
from tests.surfaces.terminal import CTRL_C, Terminal, plain

LIMIT_S = 60.0
Told = dict[str, Any]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the demo create its folder below `tmp_path`."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


class Demo:
    """A demo in its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def told(self) -> Iterator[Told]:
        """Yield the events that the demo prints, up to its end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)

    def until(self, event: str, **details: object) -> list[Told]:
        """Return the events that the demo prints, up to and including this event."""
        seen: list[Told] = []
        for told in self.told():
            seen.append(told)
            if told.get("event") == event and all(told[name] == value for name, value in details.items()):
                return seen
        raise AssertionError(f"there was no {event}: {seen[-1]}")

    def end(self) -> int:
        return self.process.wait(LIMIT_S)


@contextmanager
def demo(*words: str) -> Generator[Demo]:
    command = [sys.executable, "-m", "covey", "demo", "--json", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Demo(process)
        finally:
            process.kill()


def pids(events: list[Told]) -> list[int]:
    return [told["pid"] for told in events if told["event"] == "started"]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.requirement("mailbox.end-to-end")
def test_the_user_s_story_runs_as_written() -> None:
    with demo() as running:
        events = list(running.told())
        assert running.end() == DONE
    told = [event["text"] for event in events if event["event"] in ("asked", "posted")]
    assert told == [
        "Write me a function that sorts files by time.",
        "The maker does it; you will hear of it here.",
        "sort_by_mtime() is done: newest first.",
    ]
    assert {event["conversation"] for event in events if event["event"] in ("asked", "posted")} == {"user_123"}
    moves = [event for event in events if event["event"] == "journal" and event["action"] == "task.moved"]
    assert [move["details"]["to"] for move in moves] == ["accepted", "working", "working", "completed"]
    assert {move["actor"]["agent"] for move in moves} == {"maker"}


def test_the_demo_shows_four_acts_and_a_summary_and_leaves_nothing(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo"]) == DONE
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert [line for line in lines if cells(line) > 80 and str(temporary) not in line] == []
    assert "\x1b" not in said.out
    for line in (
        "── 1. A question is answered, and the task is committed ────────────────────────",
        "  critic → coder   request A style: “Did you mean to drop FoobarService?”",
        "                   A offered → in_context (witnessed)",
        "                   A debt open → answered",
        "                   A archived by coder",
        "  lead             commits: the gate is open, 2 messages swept",
        "  lead             refused: pending-replies-cleared (style, unmet-criterion)",
        "                   D in_context → queued (its session ended)",
        "                   D taken up by coder's new session",
        "  guide  → maker   task “Write sort_by_mtime().”",
        "                   task working → completed",
        "  user_123 reads “sort_by_mtime() is done: newest first.”",
        f"  still owed  style, unmet-criterion in {STALLED}",
    ):
        assert line in lines
    assert next(line for line in lines if "kill -9" in line).endswith(": coder is offline, its debt is open")
    assert "the records agree with it" in said.out
    assert list(temporary.iterdir()) == []


def test_with_json_the_demo_prints_the_journal_and_its_own_events(temporary: Path) -> None:
    with demo() as running:
        events = list(running.told())
        assert running.end() == DONE
    assert [told["title"][:2] for told in events if told["event"] == "act"] == ["1.", "2.", "3.", "4.", "Al"]
    started = [told["agent"] for told in events if told["event"] == "started"]
    assert started == [*CAST, "coder"]
    assert len(set(pids(events))) == len(started)
    (killed,) = [told for told in events if told["event"] == "killed"]
    assert (killed["agent"], killed["presence"], killed["debt"]) == ("coder", "offline", "open")
    journal = [told for told in events if told["event"] == "journal"]
    positions = [told["position"] for told in journal]
    assert positions == sorted(set(positions))
    swept = {told["scope"]: told["details"]["moved"] for told in journal if told["action"] == "task-swept"}
    assert swept == {RESOLVED: 2, RELEASE: 2}
    summary = events[-1]
    assert summary["event"] == "summary"
    assert summary["messages"] == len([told for told in journal if told["action"] == "message.sent"])
    assert sum(summary["deliveries"].values()) == summary["messages"]
    assert (summary["owed"], summary["disagreements"], summary["kept"]) == (["style", "unmet-criterion"], 0, None)
    assert (summary["events"], summary["processes"]) == (len(journal), len(started))
    moves = [
        told["details"]["to"]
        for told in journal
        if told["message"] == summary["asked"] and told["action"] == "delivery.moved"
    ]
    assert moves == ["in_context", "queued", "in_context", "handled"]
    assert list(temporary.iterdir()) == []


def test_a_kept_space_can_be_inspected_with_the_commands_that_are_shown(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COVEY_STORE", raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["demo", "--keep"]) == DONE
    shown = capsys.readouterr().out
    assert f"  alias covey='{sys.executable} -m covey'\n" in shown  # The shell finds no `covey` in an empty PATH.
    (folder,) = temporary.iterdir()
    monkeypatch.chdir(folder)
    commands = [line.split("  ")[1] for line in shown.splitlines() if line.startswith(("  covey ", "  cd "))]
    assert commands[0] == f"cd {folder}"
    codes = {command: main(command.split()[1:]) for command in commands[1:]}
    looked = capsys.readouterr()
    assert {code for command, code in codes.items() if "gate" not in command} == {DONE}
    assert codes[f"covey gate {STALLED}"] == 1
    assert "unmet-criterion" in looked.err
    assert "Once, says the criterion" in looked.out


def test_a_player_that_fails_is_reported() -> None:
    with demo() as running:
        started = running.until("started", agent="critic")
        os.kill(started[-1]["pid"], signal.SIGKILL)
        last = list(running.told())[-1]
        assert running.end() == UNAVAILABLE
    assert last["error"]["code"] == "unavailable"
    assert "the player critic ended with -9" in last["error"]["message"]


def test_ctrl_c_leaves_no_process_and_no_folder(temporary: Path) -> None:
    with Terminal(["demo"], temporary, {"TMPDIR": str(temporary)}) as terminal:
        terminal.until("2. An answer")
        terminal.press(CTRL_C)
        terminal.ends_with(INTERRUPTED)
        shown = plain(terminal.shown)
    assert "covey: interrupted" in shown
    assert "Traceback" not in shown
    players = [int(line.split()[2]) for line in shown.splitlines() if " joined as " in line]
    assert len(players) == len(CAST)
    assert [pid for pid in players if is_running(pid)] == []
    assert list(temporary.iterdir()) == []


def test_an_interrupt_between_two_starts_leaves_no_process_and_no_folder(temporary: Path) -> None:
    with demo() as running:
        started = running.until("started", agent="coder")
        running.process.send_signal(signal.SIGINT)
        rest = list(running.told())
        assert running.end() == INTERRUPTED
    assert [pid for pid in pids([*started, *rest]) if is_running(pid)] == []
    assert list(temporary.iterdir()) == []


def test_players_do_not_outlive_a_demo_that_was_killed() -> None:
    with demo() as running:
        started = running.until("act")
        watched = [os.pidfd_open(pid) for pid in pids(started)]
        running.process.kill()
        running.end()
    for one in watched:
        ended, _, _ = select.select([one], [], [], LIMIT_S)
        os.close(one)
        assert ended, "a player is still there"


def test_on_a_terminal_the_demo_is_in_colour_fits_and_ends(temporary: Path) -> None:
    with Terminal(["demo"], temporary, {"TMPDIR": str(temporary)}) as terminal:
        terminal.ends_with(DONE)
        terminal.check_fits()
    assert "\x1b[" in terminal.shown
    assert "What the ledger says" in terminal.shown


def test_the_demo_refuses_a_store_of_the_caller(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--store", "memory:"]) == USAGE
    assert "makes a space of its own" in capsys.readouterr().err


def test_without_a_temporary_folder_the_demo_says_so(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "missing"))
    assert main(["demo"]) == UNAVAILABLE
    assert "temporary folder" in capsys.readouterr().err
