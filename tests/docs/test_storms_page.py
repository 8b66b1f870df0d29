"""The how-to on storms: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "stop-storms.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    for said in (
        "echo of coder and critic",
        "A storm was stopped",
        "goes on: all is counted from now",
        "5,000",
        "critic goes on.",
    ):
        assert said in done.out
    assert "critic was paused by operator (it repeats itself)" in done.err
