"""The how-to on tokens: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tokens.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    token = (tmp_path / "coder.token").read_text().strip()
    assert (tmp_path / "coder.token").stat().st_mode & 0o077 == 0
    assert token not in done.out + done.err
    for said in (
        "coder's token can't read the inbox of critic",
        "can't act as lead",
        "can't list tokens",
        "was revoked",
    ):
        assert said in done.err
    assert "the plan" in done.out
    assert done.out.index("No message has these words.") < done.out.index("the plan")
