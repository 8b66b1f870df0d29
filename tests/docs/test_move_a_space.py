"""The pages on moving a space: the commands of the how-to run, and the reference describes the export format."""

import json
import re
from pathlib import Path

from covey.core.formats.export import FORMAT, VERSION
from covey.core.formats.portable import RecordKind
from tests.docs.shell import run_commands
from tests.surfaces.commands import Folder

DOCS = Path(__file__).parents[2] / "docs"
HOW_TO = (DOCS / "how-to" / "move-a-space.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference" / "export-format.md").read_text(encoding="utf-8")


def test_the_commands_of_the_how_to_run_in_their_order(tmp_path: Path) -> None:
    done = run_commands(HOW_TO, tmp_path)
    assert done.code == 0, done.err
    assert "did you mean it?" in done.out
    assert done.out.count("nothing was changed") == 2
    assert "space.imported" in done.out
    assert "does not come from this export" in done.err


def test_every_kind_of_record_is_in_the_reference_in_its_order() -> None:
    described = re.findall(r"^\| `(\w+)` \|", REFERENCE, re.MULTILINE)
    assert described == [kind.value for kind in RecordKind]
    assert f"version {VERSION} of the form" in REFERENCE


def test_the_first_line_of_an_export_agrees_with_the_reference(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^\{\"format\".*$", REFERENCE, re.MULTILINE)
    assert Folder(tmp_path).covey("init").code == 0
    first = json.loads(Folder(tmp_path).covey("export").out.splitlines()[0])
    assert list(json.loads(shown)) == list(first)
    assert (first["format"], first["version"]) == (FORMAT, VERSION)
