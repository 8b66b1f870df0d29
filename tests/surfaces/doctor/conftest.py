import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.surfaces.cli.main import main
from tests.surfaces.commands import Said
from tests.surfaces.doctor.inside import Inside
from tests.surfaces.doctor.patient import Patient


@pytest.fixture
def runtime() -> Generator[Path]:
    """A private folder whose path is short enough for sockets. The path of `tmp_path` may be too long."""
    folder = tempfile.mkdtemp(prefix="cv", dir="/tmp")
    yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture
def bare(tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Patient:
    """A folder without a space."""
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COVEY_RUNTIME_DIR", str(runtime))
    for name in ("COVEY_STORE", "COVEY_AGENT", "COVEY_SESSION"):
        monkeypatch.delenv(name, raising=False)

    def covey(*words: str) -> Said:
        code = main(words)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return Patient(folder, runtime, covey)


@pytest.fixture
def patient(bare: Patient) -> Patient:
    """A healthy space with a request in it."""
    assert bare.covey("init").code == 0
    bare.ask()
    assert bare.codes() == []
    return bare


@pytest.fixture
def inside(patient: Patient) -> Generator[Inside]:
    """A program that has this space open."""
    opened = Inside(patient)
    yield opened
    opened.close()
