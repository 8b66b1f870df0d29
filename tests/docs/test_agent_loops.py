"""The how-to on loops of agents: its commands run, in order, as one script."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.surfaces.loop import LIMIT_S

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agent-loops.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
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
    assert (done.returncode, done.stderr) == (0, "")
    (asked,) = json.loads((tmp_path / "inbox.json").read_text())
    committed = json.loads((tmp_path / "committed.json").read_text())
    assert (committed["passed"], committed["messages_swept"]) == (True, 2)
    assert '"messages_swept": 2' in text
    for field in set(asked) - {"state"}:
        assert f"`{field}`" in text
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert json.loads(shown)["error"]["details"]["observed_pending_replies"] == 2
