"""The pages on the doctor: the reference is made from the code, and the commands of the how-to run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from covey.core import diagnoses
from covey.core.diagnoses import DIAGNOSES
from covey.core.finding import Diagnosis
from tests.surfaces.commands import LIMIT_S
from tools.findings_page import PAGE, page

HOW_TO = PAGE.parents[1] / "how-to" / "doctor.md"


def test_the_reference_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tools/findings_page.py`"


def test_every_diagnosis_is_in_the_list_and_on_the_page_once() -> None:
    text = PAGE.read_text(encoding="utf-8")
    defined = [value for value in vars(diagnoses).values() if isinstance(value, Diagnosis)]
    assert sorted(defined) == sorted(DIAGNOSES)
    for diagnosis in DIAGNOSES:
        assert text.count(f"| `{diagnosis.code}` |") == 1, diagnosis.code


def test_the_commands_of_the_how_to_run(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", HOW_TO.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment["COVEY_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="cv", dir="/tmp")  # short enough for sockets
    try:
        done = subprocess.run(
            ["sh", "-eu"],
            input=script,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    finally:
        shutil.rmtree(environment["COVEY_RUNTIME_DIR"])
    assert done.returncode == 0, done
    assert json.loads((tmp_path / "healthy.json").read_text())["healthy"] is True
    assert "mended wrong-permissions" in done.stdout
