"""Tasks on a real terminal of 80 × 24: the line that tells how it fares, the board, and the keys that end them."""

import re
from collections.abc import Callable

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED
from tests.surfaces.commands import Folder
from tests.surfaces.page import page
from tests.surfaces.terminal import CTRL_C, Terminal, plain

CODER = ("--as", "coder")
NASTY = "\x1b[2J\x1b]0;owned\x07 look \u202eesrever\u202c \x9b31m at\r\nthis 解析器已经完成了吗 🎉"
NAME = "a-reviewer-with-a-name-that-is-as-long-as-a-name-may-be-in-covey"
ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"


def on_terminal(
    folder: Folder, *words: str, captured: bool = False, woken_only: bool = False, **environment: str
) -> Terminal:
    every = {**folder.environment, **environment}
    return Terminal(words, folder.path, every, captured=captured, woken_only=woken_only)


def delegate(folder: Folder, text: str = "fix the parser", to: str = "coder") -> None:
    assert folder.covey("delegate", text, "--from", "lead", "--to", to, "--register", "--no-wait").code == DONE


def update(folder: Folder, name: str, *words: str) -> None:
    assert folder.covey("update", name, *CODER, *words).code == DONE


def page_until(terminal: Terminal, is_there: Callable[[list[str]], bool], columns: int = 80) -> list[str]:
    """Read until the page is as wanted. The board draws itself anew every second, so there is always more to read."""
    for _ in range(40):
        shown = page(terminal.shown.replace(ALTERNATE, ""), columns)
        if is_there(shown):
            return shown
        terminal.more()
    raise AssertionError("\n".join(page(terminal.shown, columns)))


def test_who_delegates_sees_how_the_task_fares_on_one_line_and_then_the_result(folder: Folder) -> None:
    with on_terminal(folder, "delegate", "fix the parser", "--from", "lead", "--to", "coder", "--register") as asker:
        asker.until("pending · 0:00")
        assert folder.covey("accept", "coder:1", *CODER).code == DONE
        asker.until("accepted · ")
        update(folder, "coder:1", "--start")
        update(folder, "coder:1", "--progress", f"half of it {NASTY * 3}")
        asker.until("working · 0:01")
        update(folder, "coder:1", "--complete", "it is fixed")
        asker.ends_with(DONE)
    lines = page(asker.shown)
    assert lines[0] == "Task coder:1 waits for coder, who is offline. Ctrl-C leaves it there."
    assert [line[10:].strip() for line in lines[1:4]] == ["accepted", "working", "completed"]
    assert lines[4:6] == ["it is fixed", ""], "the line that changed is gone"
    assert "half of it" in asker.shown
    assert "\x07" not in asker.shown


def test_the_result_can_be_captured_while_a_person_looks_on(folder: Folder) -> None:
    words = ("delegate", "fix the parser", "--from", "lead", "--to", "coder", "--register")
    with on_terminal(folder, *words, captured=True) as asker:
        asker.until("pending · ")
        assert folder.covey("accept", "coder:1", *CODER).code == DONE
        update(folder, "coder:1", "--start")
        update(folder, "coder:1", "--complete", "it is fixed")
        asker.ends_with(DONE)
        assert asker.captured_text == "it is fixed\n"


def test_ctrl_c_leaves_the_task_and_says_how_to_look_again(folder: Folder) -> None:
    with on_terminal(folder, "delegate", "fix the parser", "--from", "lead", "--to", "coder", "--register") as asker:
        asker.until("pending · ")
        asker.press(CTRL_C)
        asker.ends_with(INTERRUPTED)
    lines = page(asker.shown)
    assert lines[1:6] == [
        "Interrupted. The task goes on; look again, wait on or take it back with:",
        "  covey task coder:1",
        "  covey task coder:1 --wait 1h",
        "  covey cancel coder:1 --as lead",
        "",
    ]
    with on_terminal(folder, "task", "coder:1", "--wait", "1h") as waiting:
        waiting.until("pending · ")
        waiting.press(CTRL_C)
        waiting.ends_with(INTERRUPTED)
    assert folder.covey("tasks", "--json").json[0]["state"] == "pending"


def test_the_board_has_a_column_for_what_waits_is_at_work_and_is_finished(folder: Folder) -> None:
    for text in ("fix the parser so that it takes empty lines", NASTY, "write the docs"):
        delegate(folder, text)
    with on_terminal(folder, "tasks", "--watch") as board:
        shown = page_until(board, lambda lines: "q ends it" in lines[-1])
        assert shown[0].split("  ") == ["pending 3", *[""] * 8, "at work 0", *[""] * 8, "finished 0"]
        assert shown[2].startswith("coder:1 ")
        assert shown[3:6] == ["fix the parser so that it", "takes empty lines", "from lead"]
        assert folder.covey("accept", "coder:1", *CODER).code == DONE
        update(folder, "coder:1", "--start")
        update(folder, "coder:1", "--progress", "half of it")
        shown = page_until(board, lambda lines: "half of it" in lines[6] and "coder:1 working" in lines[2])
        assert shown[0].split() == ["pending", "2", "at", "work", "1", "finished", "0"]
        update(folder, "coder:1", "--complete", "all of it is done")
        assert folder.covey("cancel", "coder:3", "--from", "lead").code == DONE
        last_first = ["coder:3 failed", "coder:1 completed"]
        page_until(board, lambda lines: re.findall(r"coder:\d (?:failed|completed)", "\n".join(lines)) == last_first)
        page_until(board, lambda lines: "all of it is done" in "\n".join(lines))
        board.press(b"q")
        board.ends_with(DONE)
    assert "\x07" not in board.shown
    assert "\x1b]" not in board.shown
    assert board.shown.count(ALTERNATE) == board.shown.count(BACK) == 1
    assert board.shown.endswith(f"\x1b[?25h{BACK}"), "the terminal is as it was"


def test_the_board_is_drawn_when_something_changes_and_not_only_now_and_then(folder: Folder) -> None:
    with on_terminal(folder, "tasks", "--watch", woken_only=True) as board:
        page_until(board, lambda lines: "q ends it" in lines[-1])
        delegate(folder)
        page_until(board, lambda lines: lines[0].startswith("pending 1"))
        board.press(CTRL_C)
        board.ends_with(INTERRUPTED)
    assert BACK in board.shown
    assert board.shown.endswith("covey: interrupted\r\n")


def test_the_board_fits_whatever_the_terminal_becomes(folder: Folder) -> None:
    for n in range(9):
        delegate(folder, NASTY * 3, NAME if n % 2 else "coder")
    with on_terminal(folder, "tasks", "--watch", NO_COLOR="1") as board:
        shown = page_until(board, lambda lines: "q ends it" in lines[-1])
        assert "… 6 more" in shown
        assert re.search(r"^a-reviewer-with-[a-z-]+…:1 ", "\n".join(shown), re.MULTILINE), "its number is always there"
        board.shown = ""
        board.resize(50)
        narrow = page_until(board, lambda lines: "finished 0" in lines, 50)
        assert narrow.index("pending 9") < narrow.index("at work 0") < narrow.index("finished 0")
        assert "\x1b[1m" not in board.shown, "without colour"
        board.press(b"Q")
        board.ends_with(DONE)


def test_a_dumb_terminal_gets_lines_instead_of_a_board(folder: Folder) -> None:
    delegate(folder)
    with on_terminal(folder, "tasks", "--watch", TERM="dumb") as lines:
        lines.until("coder:1 from lead: fix the parser")
        lines.press(CTRL_C)
        lines.ends_with(INTERRUPTED)
    assert "\x1b" not in lines.shown


@pytest.mark.parametrize("words", [("tasks",), ("tasks", "--all"), ("task", "coder:1"), ("agents",)], ids=" ".join)
def test_what_a_person_sees_of_tasks_fits_the_terminal_and_cannot_steer_it(
    folder: Folder, words: tuple[str, ...]
) -> None:
    delegate(folder, NASTY * 4)
    delegate(folder, NASTY, NAME)
    (folder.path / "parser.py").write_text("fixed")
    assert folder.covey("accept", "coder:1", *CODER).code == DONE
    update(folder, "coder:1", "--start")
    update(folder, "coder:1", "--progress", NASTY * 4, "--file", "parser.py", "--data", '["x"]')
    with on_terminal(folder, *words) as coloured:
        coloured.ends_with(DONE)
    coloured.check_fits()
    assert "\x1b" not in plain(coloured.shown), "only colours come from us"
    assert "\x07" not in coloured.shown
