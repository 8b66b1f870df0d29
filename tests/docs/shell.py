"""The shell commands of a page, run in order as one script."""

import re
from pathlib import Path

from tests.surfaces.commands import Folder, Said


def run_commands(text: str, folder: Path, **environment: str) -> Said:
    """Run the `sh` blocks of a page in an empty folder. The first command that fails ends the script."""
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert script, "the page shows no commands"
    return Folder(folder).run(["sh", "-eu", "-c", script], **environment)
