"""The how-to on delegating work: its commands run, in order, with the documented results."""

import json
import re
from pathlib import Path

from covey.core.work.task import TASK_MOVES
from tests.docs.shell import run_commands

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "hand-over-work.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_and_end_as_it_says(tmp_path: Path) -> None:
    done = run_commands(TEXT, tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "result.txt").read_text() == "It takes them now.\n"
    assert (tmp_path / "input" / "parser.py").read_text() == "def parse(): ...\n"
    assert (tmp_path / "output" / "parser-2.py").read_text() == "def parse(): return []\n"
    lines = (tmp_path / "board.jsonl").read_text().splitlines()
    board = [json.loads(line) for line in lines]
    assert [(entry["task"]["agent"], entry["task"]["state"]) for entry in board] == [
        ("coder", "working"),
        ("lawyer", "pending"),
    ]
    tree = re.findall(r"^```text\n(lead → .*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert tree[0] in done.out


def test_the_picture_shows_every_state_and_every_move_but_the_one_for_deadlines() -> None:
    picture = TEXT[TEXT.index("```text") : TEXT.index("## From a terminal")]
    words = set(re.findall(r"[a-z]+", picture))
    assert {str(state) for state in TASK_MOVES} <= words
    assert {str(move) for moves in TASK_MOVES.values() for move in moves} - {"lapse"} <= words
