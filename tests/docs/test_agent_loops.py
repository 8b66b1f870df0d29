"""The how-to on agent loops: its commands run, in order, as one script."""

import json
import re
from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agent-loops.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    done = run_commands(text, tmp_path)
    assert (done.code, done.err) == (0, "")
    (asked,) = json.loads((tmp_path / "inbox.json").read_text())
    committed = json.loads((tmp_path / "committed.json").read_text())
    assert (committed["passed"], committed["messages_swept"]) == (True, 2)
    assert '"messages_swept": 2' in text
    for field in set(asked) - {"state"}:
        assert f"`{field}`" in text
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert json.loads(shown)["error"]["details"]["observed_pending_replies"] == 2
