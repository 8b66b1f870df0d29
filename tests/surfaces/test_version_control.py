"""Version control ignores a space."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.loop import in_a_process, sent


@pytest.mark.requirement("dialogue.ignore")
def test_git_ignores_a_space_in_use(tmp_path: Path) -> None:
    covey = in_a_process(tmp_path)
    (tmp_path / "notes.txt").write_text("for the critic")
    assert covey("init", "--json").code == 0
    sent(covey, "request", "a", "b", "--body", "why?", "--expects-reply")
    assert covey("send", "see", "--from", "a", "--to", "b", "--file", "notes.txt", "--json").code == 0
    made = [path for path in (tmp_path / ".covey").rglob("*") if path.is_file()]
    assert len(made) >= 3
    assert (tmp_path / ".covey" / ".gitignore").read_text() == "*\n"  # checked also if git is not installed
    if shutil.which("git") is not None:
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True, timeout=30)
        found = subprocess.run(
            ["git", "-C", tmp_path, "status", "--porcelain", "--untracked-files=all"],
            check=True,
            timeout=30,
            capture_output=True,
            text=True,
        )
        assert found.stdout == "?? notes.txt\n"
