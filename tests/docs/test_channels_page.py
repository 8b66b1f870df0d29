"""The how-to on channels: its commands run, in order, as one script."""

from pathlib import Path

from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "talk-through-channels.md"


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(PAGE.read_text(encoding="utf-8"), tmp_path)
    assert done.code == 0, done.err
    for said in (
        "ops coder: The parser is done.",
        'Is it tested? [data {"person": "ann"}]',
        "ops/c-1 coder: It is: 214 tests.",
        "no answer: Connection refused",
        "May I deploy?",
        "You may.",
    ):
        assert said in done.out
    assert "a long random secret" not in done.out + done.err
    assert "/hook" not in done.out + done.err
