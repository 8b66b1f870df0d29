"""Fixtures: a folder with a new space for each test, and commands that run there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.main import main
from tests.surfaces.commands import Folder, Said

Covey = Callable[..., Said]


@pytest.fixture
def covey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Covey:
    """Run commands through `main(argv)`, in a folder with a new space."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "COVEY_STORE",
        "COVEY_AGENT",
        "COVEY_SESSION",
        "COVEY_TOKEN",
        "COVEY_TASK",
        "COVEY_ATTEMPT",
        "COLUMNS",
    ):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Said:
        code = main(words)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    assert run("init").code == DONE
    return run


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with a new space, in which each command runs as a process."""
    made = Folder(tmp_path)
    assert made.covey("init").code == DONE
    return made
