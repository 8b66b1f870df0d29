"""The how-to on approvals: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ask-for-approval.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    for said in ("approval (plan)", "is rejected.", "rejected: keep the old one for a week"):
        assert said in done.out
    for said in ("must contain a decision: this one has none", "was rejected already"):
        assert said in done.err
