"""The how-to on negotiation: its commands run."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "let-agents-negotiate.md"


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    assert "sessions_send" in done.out
