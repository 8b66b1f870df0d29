"""The how-to on keeping an agent on duty: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "keep-an-agent-on-duty.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    assert "MAKE ME LOUD" in done.out
    assert "It looks fine." in done.out
    assert done.out.splitlines()[-1].strip() == "1"
