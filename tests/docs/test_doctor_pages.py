"""The pages on the doctor: the reference is generated from the code, and the commands of the how-to run."""

import json
import tempfile
from pathlib import Path

from covey.core.care import diagnoses, diagnoses_folder
from covey.core.care.diagnoses import DIAGNOSES
from covey.core.care.finding import Diagnosis
from tests.docs.shell import run_commands
from tools.findings_page import PAGE, page

HOW_TO = PAGE.parents[1] / "how-to" / "doctor.md"


def test_the_reference_agrees_with_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tools/findings_page.py`"


def test_every_diagnosis_is_in_the_list_and_on_the_page_once() -> None:
    text = PAGE.read_text(encoding="utf-8")
    everything = {**vars(diagnoses), **vars(diagnoses_folder)}
    defined = [value for value in everything.values() if isinstance(value, Diagnosis)]
    assert sorted(defined) == sorted(DIAGNOSES)
    for diagnosis in DIAGNOSES:
        assert text.count(f"| `{diagnosis.code}` |") == 1, diagnosis.code


def test_the_commands_of_the_how_to_run(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="cv", dir="/tmp") as runtime:  # a short path for sockets
        done = run_commands(HOW_TO.read_text(encoding="utf-8"), tmp_path, COVEY_RUNTIME_DIR=runtime)
    assert done.code == 0, done
    assert json.loads((tmp_path / "healthy.json").read_text())["healthy"] is True
    assert "mended wrong-permissions" in done.out
