"""Every CLI verb that shows foreign text: the text does not control a terminal, as a table or as JSON."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import covey
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.terminal.text import escaped
from tests.rendering.forgeries import CONTROL, FORGERIES, MARK, assert_safe_on_a_terminal
from tests.rendering.hostile_space import plant
from tests.surfaces.terminal import Terminal

LIMIT_S = 30.0
SHOWING: dict[str, list[str]] = {
    "agents": [],
    "status": [],
    "top": [],
    "inbox": ["coder"],
    "watch": ["--after", "0", "--limit", "40"],
    "search": [MARK],
    "thread": ["1", "--agent", "coder"],
    "owed": ["coder"],
    "messages-inbox": ["--agent", "coder"],
    "messages-thread": ["ID"],
    "tasks": ["--all"],
    "task": ["coder:3"],
    "sessions": ["--all"],
    "receipt": ["1", "--agent", "coder"],
    "log": ["--limit", "500"],
    "graph": ["coder:1"],
    "waits": [],
    "storms": ["--all"],
    "doctor": [],
    "channels": [],
    "token": ["list"],
    "help": [],
    "version": [],
    "tools": [],
}
"""Verbs that only read, with their arguments here."""

QUIET = {"top", "waits", "storms", "doctor", "channels", "token", "help", "version", "tools"}
"""Verbs that show only names, numbers and words of the program here. `top` shows nothing without a terminal."""

OTHERS = {
    *("init", "join", "leave", "send", "reply", "ask", "approve", "reject", "handle", "dismiss", "withdraw", "gate"),
    *("archive", "sweep", "messages-send", "messages-archive", "delegate", "accept", "update", "cancel", "work"),
    *("spawn", "say", "stop", "pause", "resume", "nats", "mcp", "prune", "backup", "restore", "export", "import"),
    *("move", "demo", "completion"),
}
"""Verbs that change something. Their results go through the same `Output`; the lines of an export are tested below."""


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a hostile space."""
    folder = tmp_path_factory.mktemp("hostile")

    async def make() -> None:
        async with covey.open(f"sqlite:{folder}/covey.db", roots=[]) as opened:
            planted = await plant(opened, FORGERIES[0])
            (folder / "id").write_text(planted.ticket.partition("@")[0])

    asyncio.run(make())
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "covey", *words, "--store", f"sqlite:{folder}/covey.db"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_every_verb_is_known_here() -> None:
    assert set(VERBS) == {*SHOWING, *OTHERS}


@pytest.mark.requirement("trust.frame")
@pytest.mark.parametrize("verb", SHOWING)
def test_no_verb_lets_a_foreign_text_control_a_terminal(space: Path, verb: str) -> None:
    for form in ((), ("--json",)):
        words = [word.replace("ID", (space / "id").read_text()) for word in SHOWING[verb]]
        done = run(space, verb, *words, *form)
        assert "usage" not in done.stderr, done.stderr
        assert_safe_on_a_terminal(done.stdout + done.stderr)
        assert MARK in done.stdout or verb in QUIET, done


@pytest.mark.requirement("trust.frame")
def test_an_export_to_a_terminal_does_not_control_it(space: Path) -> None:
    words = ["export", "--store", f"sqlite:{space}/covey.db"]
    with Terminal(words, space, {"HOME": str(space)}) as terminal:
        terminal.ends_with(0)
    records = run(space, "export").stdout.strip().split("\n")[1:-1]  # all but the lines with the time
    assert any(MARK in record for record in records)
    for record in records:
        shown = escaped(record)
        assert_safe_on_a_terminal(shown)
        assert shown in terminal.shown


@pytest.mark.parametrize("forged", FORGERIES)
def test_escaped_json_stands_for_the_same_value(forged: str) -> None:
    value = {forged + CONTROL: [forged, {"x": CONTROL + "\ud800\U000e0001"}]}
    document = escaped(json.dumps(value, ensure_ascii=False))
    assert_safe_on_a_terminal(document)
    assert json.loads(document) == value
