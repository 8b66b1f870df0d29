"""The how-to on shared folders: its commands run in order."""

from pathlib import Path

from tests.docs.shell import run_commands

HOW_TO = (Path(__file__).parents[2] / "docs" / "how-to" / "share-a-folder.md").read_text(encoding="utf-8")


def test_the_commands_of_the_how_to_run_in_their_order(tmp_path: Path) -> None:
    done = run_commands(HOW_TO, tmp_path)
    assert done.code == 0, done.err
    assert '"event":"sent"' in done.out
    assert "yes, nobody calls it" in done.out
    assert "broken.json" in done.out
    assert "the doctor has found something" in done.out
