"""Two machines and a server between them: they have only a URL in common."""

import json
import platform
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.nats.machines import Machine, machines

LIMIT_S = 30.0


@pytest.fixture(scope="module")
def apart() -> Generator[Sequence[Machine]]:
    # Not a folder of pytest: the paths of sockets must be short.
    with tempfile.TemporaryDirectory(prefix="covey-far-") as name, machines(Path(name), ("alpha", "beta")) as found:
        yield found


@contextmanager
def bob(machine: Machine, space: str) -> Generator["subprocess.Popen[str]"]:
    """Run bob on a machine until the end of the block."""
    with machine.start("-m", "tests.nats.far", "bob", machine.url(space)) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(LIMIT_S) == 0
        finally:
            process.kill()


def covey(machine: Machine, space: str, *words: str) -> Any:
    """Run a command on a machine. Return its JSON output."""
    return json.loads(machine.run("-m", "covey", *words, "--json", COVEY_STORE=machine.url(space)))


@pytest.mark.requirement("peers.cross-machine")
def test_two_machines_exchange_messages_questions_tasks_and_files(apart: Sequence[Machine]) -> None:
    alpha, beta = apart
    with bob(beta, "team") as listening:
        told = json.loads(alpha.run("-m", "tests.nats.far", "ann", alpha.url("team")))
        assert listening.stdout is not None
        heard = json.loads(listening.stdout.readline())
    here, there = ("alpha", "beta") if alpha.inside else (platform.node(), platform.node())
    assert told == {
        "host": here,
        "seen": [["bob", "idle"]],
        "delivered": ["bob"],
        "answer": f"{there}: where are you?",
        "result": f"measure it: done on {there}",
        "found": ["hello"],
    }
    assert heard == {"text": "hello", "file": "what was attached"}


def test_commands_on_two_machines_see_one_space(apart: Sequence[Machine]) -> None:
    alpha, beta = apart
    covey(alpha, "desk", "send", "--from", "ann", "--to", "bob", "the build is red", "--register")
    (shown,) = covey(beta, "desk", "inbox", "bob")
    assert (shown["text"], shown["from"]) == ("the build is red", "ann")
    covey(beta, "desk", "reply", shown["id"], "I look at it", "--from", "bob")
    assert [item["text"] for item in covey(alpha, "desk", "inbox", "ann")] == ["I look at it"]


def test_an_agent_on_another_machine_is_seen_and_its_leaving_too(apart: Sequence[Machine]) -> None:
    alpha, beta = apart
    with bob(beta, "hall"):
        (seen,) = covey(alpha, "hall", "agents")
        assert (seen["agent"], seen["presence"]) == ("bob", "idle")
    (seen,) = covey(alpha, "hall", "agents")
    assert (seen["agent"], seen["presence"]) == ("bob", "offline")
