"""The how-to on running a space: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operate.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    assert "Nothing would go." in done.out
    assert "Pruned 2 messages" in done.out
    assert "messages.pruned" in done.out
    assert done.err.count("was accepted, closed and pruned") == 2
    assert "Healthy." in done.out
