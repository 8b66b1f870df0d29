"""The how-to on running a space: its commands run, in order, as one script."""

import re
from pathlib import Path

from tests.surfaces.commands import Folder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operate.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
    done = Folder(tmp_path).run(["sh", "-eu", "-c", script])
    assert done.code == 0, done.err
    assert "Nothing would go." in done.out
    assert "Pruned 2 messages" in done.out
    assert "messages.pruned" in done.out
    assert done.err.count("was accepted, closed and pruned") == 2
    assert "Healthy." in done.out
