"""The README's first commands do what it says of them."""

import re
import shlex
from pathlib import Path

from covey.surfaces.cli.exits import DONE, REFUSED
from tests.surfaces.commands import Folder

README = Path(__file__).parents[2] / "README.md"


def test_its_commands_run_and_the_gate_refuses_while_something_is_owed(tmp_path: Path) -> None:
    lines = re.findall(r"^\$ covey (.*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    folder = Folder(tmp_path)
    asked = ""
    codes: dict[str, int] = {}
    for line in lines:
        words = [asked if word == "MESSAGE_ID" else word for word in shlex.split(line, comments=True)]
        said = folder.covey(*words)
        codes[words[0]] = said.code
        if words[0] == "send":
            asked = said.out.splitlines()[0]
    verbs = ("init", "send", "inbox", "reply", "gate", "receipt", "delegate", "work")
    assert codes == {verb: REFUSED if verb == "gate" else DONE for verb in verbs}
