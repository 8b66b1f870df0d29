"""covey top: the space live on a real terminal, with keys that select, open and go back."""

from collections.abc import Callable

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED, USAGE
from covey.surfaces.cli.live_page import Key, keys_in
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.page import page
from tests.surfaces.terminal import CTRL_C, Terminal

pytestmark = pytest.mark.requirement("first.status")

UP, DOWN, ESCAPE, BACKSPACE = b"\x1b[A", b"\x1b[B", b"\x1b", b"\x7f"
ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"
NASTY = "\x1b[2J\x1b]0;owned\x07 look \u202eesrever\u202c at this 解析器"


def send(folder: Folder, text: str, *words: str, sender: str = "lead", to: str = "coder") -> None:
    assert folder.covey("send", text, "--from", sender, "--to", to, "--register", *words).code == DONE


def top(folder: Folder, **environment: str) -> Terminal:
    return Terminal(["top"], folder.path, {**folder.environment, "NO_COLOR": "1", **environment}, woken_only=True)


def page_until(terminal: Terminal, is_there: Callable[[str], bool], columns: int = 80) -> str:
    """Read until the page is as wanted. It is drawn again every second, so there is always more to read."""
    for _ in range(40):
        shown = "\n".join(page(terminal.shown.replace(ALTERNATE, ""), columns))
        if is_there(shown):
            return shown
        terminal.more()
    raise AssertionError("\n".join(page(terminal.shown, columns)))


def test_keys_open_an_agent_and_a_thread_and_go_back(folder: Folder) -> None:
    send(folder, "why is the parser slow?", "--request")
    send(folder, "lunch?")
    with top(folder) as screen:
        page_until(screen, lambda shown: "› coder" in shown and "Enter opens · q ends it" in shown)
        screen.press(b"\r")
        page_until(screen, lambda shown: "The waiting mail of coder" in shown and "› coder:1" in shown)
        screen.press(DOWN)
        page_until(screen, lambda shown: "› coder:2" in shown)
        screen.press(UP)
        page_until(screen, lambda shown: "› coder:1" in shown)
        screen.press(b"\n")
        page_until(screen, lambda shown: "request lead" in shown and "Esc goes back" in shown)
        assert folder.covey("reply", "coder:1", "it copies", "--from", "coder").code == DONE
        shown = page_until(screen, lambda shown: "it copies" in shown)
        assert shown.index("why is the parser slow?") < shown.index("it copies"), "the newest message is the last"
        screen.press(ESCAPE)
        page_until(screen, lambda shown: "The waiting mail of coder" in shown)
        screen.press(BACKSPACE)
        page_until(screen, lambda shown: "agent" in shown and "› coder" in shown)
        screen.press(b"q")
        screen.ends_with(DONE)
    assert screen.shown.count(ALTERNATE) == screen.shown.count(BACK) == 1
    assert screen.shown.endswith(f"\x1b[?25h{BACK}"), "the terminal is as it was"


def test_a_question_below_the_agents_is_selected_and_opened(folder: Folder) -> None:
    send(folder, "why is the parser slow?", "--request")
    with top(folder) as screen:
        page_until(screen, lambda shown: "› coder" in shown)
        screen.press(b"jjjjk")  # the last row stays selected, whatever comes after it
        page_until(screen, lambda shown: "› lead" in shown)
        screen.press(b"j")
        page_until(screen, lambda shown: "› coder    lead" in shown)
        screen.press(b"\r")
        page_until(screen, lambda shown: "request lead" in shown)
        screen.press(CTRL_C)
        screen.ends_with(INTERRUPTED)
    assert screen.shown.count(BACK) == 1


def test_a_long_thread_scrolls_and_begins_at_its_end(folder: Folder) -> None:
    send(folder, "first " * 200, "--request")
    for n in range(8):
        assert folder.covey("reply", "coder:1", f"answer {n} " + "word " * 100, "--from", "coder").code == DONE
    with top(folder) as screen:
        page_until(screen, lambda shown: "› coder" in shown)
        screen.press(b"\r")
        page_until(screen, lambda shown: "No mail waits for coder." in shown and "› lead" in shown)
        screen.press(b"\r")
        page_until(screen, lambda shown: "answer 7" in shown and "answer 0" not in shown)
        screen.press(UP * 60)
        shown = page_until(screen, lambda shown: "request lead" in shown)
        assert "answer 7" not in shown
        assert "…" in shown, "a long body is cut"
        screen.press(b"q")
        screen.ends_with(DONE)


def test_the_page_follows_the_size_of_the_terminal_and_foreign_text_does_not_control_it(folder: Folder) -> None:
    send(folder, NASTY, "--request")
    with top(folder) as screen:
        page_until(screen, lambda shown: "q ends it" in shown)
        screen.shown = ""
        screen.resize(50)
        page_until(screen, lambda shown: "q ends it" in shown and "look" in shown, 50)
        screen.press(b"q")
        screen.ends_with(DONE)
    assert "\x07" not in screen.shown
    assert "\x1b]" not in screen.shown
    assert "\u202e" not in screen.shown


@pytest.mark.parametrize("words", [("top",), ("top", "--json")])
def test_without_a_terminal_it_names_the_command_that_needs_none(covey: Covey, words: tuple[str, ...]) -> None:
    said = covey(*words)
    assert said.code == USAGE
    assert "covey status --watch" in said.out + said.err


def test_a_dumb_terminal_is_refused_too(folder: Folder) -> None:
    with top(folder, TERM="dumb") as screen:
        screen.until("covey status --watch")
        screen.ends_with(USAGE)


def test_the_terminal_is_restored_when_the_store_fails(folder: Folder) -> None:
    send(folder, "hello")
    with top(folder) as screen:
        page_until(screen, lambda shown: "› coder" in shown)
        for file in (folder.path / ".covey").glob("covey.db*"):
            file.unlink()
        screen.press(b"\r")
        screen.ends_with(4)
    assert screen.shown.count(BACK) == 1


NONE: list[Key] = []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\x1b[A\x1b[Bkj", ([Key.UP, Key.DOWN, Key.UP, Key.DOWN], b"")),
        (b"\x1bOA\r\n", ([Key.UP, Key.OPEN, Key.OPEN], b"")),
        (b"\x7f\x08q", ([Key.BACK, Key.BACK, Key.QUIT], b"")),
        (b"j\x1b", ([Key.DOWN], b"\x1b")),
        (b"\x1b[", (NONE, b"\x1b[")),
        (b"\x1bj", ([Key.BACK, Key.DOWN], b"")),
        (b"\x1b[5~\x1b[1;5Axyz\xff", (NONE, b"")),
        (b"", (NONE, b"")),
    ],
)
def test_keys_are_told_from_sequences_that_are_not_complete(content: bytes, found: tuple[list[Key], bytes]) -> None:
    assert keys_in(content) == found
