"""Output for people: text without control sequences, tables that fit the terminal, and colour only if it is wanted."""

import io
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.screen import fitting
from covey.surfaces.cli.terminal.text import cells, clipped, one_line, printable, reflowed

ID = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"
COLUMNS = ("#", "from", "state", "text")
ROWS = [
    ("1", "critic (claimed)", "queued", "did you mean it? " * 6),
    ("12", "解析者 (session)", "handled", "解析器已经完成了吗 🐦"),
    ("3", "lead (claimed)", "offered", "ok"),
]


class Tty(io.StringIO):
    """A stand-in for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)


def table(monkeypatch: pytest.MonkeyPatch, width: int, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as a terminal without colour shows it."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    tty = Tty()
    Output(False, tty, io.StringIO()).table(columns, rows, "nothing")
    return tty.getvalue()


@given(st.text())
def test_printable_text_cannot_control_a_terminal(text: str) -> None:
    shown = printable(text)
    assert all(c in "\n\t" or c.isprintable() or 0x1F000 <= ord(c) < 0x1FB00 for c in shown)
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b]0;title\x07", "�]0;title�"),
        ("\x9b31m", "�31m"),
        ("a\u202eb", "a�b"),
        ("back\x08\x7f", "back��"),
        ("👩\u200d💻 ❤\ufe0f", "👩💻 ❤"),
        ("全角\u3000空白", "全角  空白"),
        ("no\u00a0break", "no break"),
        ("\U0001fae8", "\U0001fae8"),
        ("\udc80", "�"),
    ],
)
def test_control_characters_are_replaced_and_spaces_normalised(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("語", 2), ("🐦", 2), ("e\u0301", 1), ("ｱ", 1), ("\U0001fae8", 2), ("👍🏽", 2), ("", 0)],
)
def test_the_width_of_a_text_in_cells(text: str, width: int) -> None:
    assert cells(text) == width


def test_texts_are_flattened_clipped_and_reflowed() -> None:
    assert one_line(" a\n\tb \u2028c ") == "a b c"
    assert clipped("short", 5) == "short"
    assert clipped("too long", 5) == "too…"
    assert reflowed("one two\nthree\n\n  as   it is\nfour", 9) == "one two\nthree\n\n  as   it is\nfour"


@pytest.mark.parametrize("width", [200, 80, 60])
def test_a_table_is_aligned_with_characters_of_any_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = table(monkeypatch, width, COLUMNS, ROWS).splitlines()
    assert max(map(cells, lines)) <= width
    assert lines[0].split() == list(COLUMNS)
    firsts = [lines[0], *(line for line in lines[1:] if line[:2].strip())]
    texts = ("text", "did you", "解析器", "ok")
    assert len({cells(line[: line.index(text)]) for line, text in zip(firsts, texts, strict=True)}) == 1, lines


def test_a_table_that_does_not_fit_becomes_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = table(
        monkeypatch, 40, ("#", "from", "state", "about", "text"), [("1", *["x" * 20] * 3, "did you mean it?")]
    )
    assert lines.splitlines()[:2] == ["#: 1", f"from: {'x' * 20}"]
    assert max(map(cells, lines.splitlines())) <= 40


def test_what_people_copy_is_never_broken_on_a_usual_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("debtor", "asker", "state", "scope", "subject", "message")
    row = ("coder", "critic", "answered, not archived", "M001-S001-T0001", "missing-test", ID)
    wide = table(monkeypatch, 140, columns, [row]).splitlines()
    assert wide[1].endswith(ID)
    usual = table(monkeypatch, 80, columns, [row]).splitlines()
    assert f"  {ID}" in usual
    assert max(map(cells, usual)) <= 80


def test_empty_columns_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert table(monkeypatch, 80, ("a", "b", "c"), [("1", "", "x"), ("2", "", "y")]).splitlines()[0].split() == [
        "a",
        "c",
    ]
    assert table(monkeypatch, 80, COLUMNS, []) == "nothing\n"


@given(st.lists(st.lists(st.text(max_size=30).map(one_line), min_size=4, max_size=4), min_size=1, max_size=5))
def test_fitted_columns_are_no_wider_than_the_terminal(rows: list[list[str]]) -> None:
    for room in (30, 80, 200):
        widths = fitting(COLUMNS, rows, room)
        assert widths is None or sum(widths) + 2 * (len(COLUMNS) - 1) <= room


def test_only_terminals_that_support_colour_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(out: io.StringIO) -> str:
        output = Output(False, out, io.StringIO())
        output.table(COLUMNS, ROWS, "")
        output.text("dim", "dim")
        output.pieces(("a", "bold"), ("b", ""), lead="> ", margin="  ")
        return out.getvalue()

    assert "\x1b[33mqueued" in shown(Tty())
    assert "\x1b" not in shown(io.StringIO()), "a pipe"
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(Tty())
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b" in shown(Tty()), "empty is not set"
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in shown(Tty())
    monkeypatch.delenv("TERM")
    assert "\x1b" not in shown(Tty())


def test_markup_and_emoji_codes_in_foreign_text_are_not_interpreted() -> None:
    tty = Tty()
    output = Output(False, tty, io.StringIO())
    output.table(("a", "text"), [("1", "[red]x[/red] :smile:")], "")
    output.pieces(("[b]y[/b]", "bold"), margin=" ")
    assert "[red]x[/red] :smile:" in tty.getvalue()
    assert "[b]y[/b]" in tty.getvalue()


def test_a_wrapped_line_is_indented_by_its_margin() -> None:
    tty = Tty()
    Output(False, tty, io.StringIO()).pieces(("word " * 30, ""), lead="└─ ", margin="   ")
    lines = [line.replace("\x1b[2m", "").replace("\x1b[0m", "") for line in tty.getvalue().splitlines()]
    assert [line[:7] for line in lines] == ["└─ word", "   word"]
    assert max(map(cells, lines)) <= 80


def test_an_empty_line_is_written() -> None:
    tty = Tty()
    Output(False, tty, io.StringIO()).pieces(("", ""), lead="│ ", margin="│ ")
    assert tty.getvalue().count("\n") == 1


def test_characters_outside_the_encoding_are_escaped() -> None:
    for as_json in (False, True):
        raw = io.BytesIO()
        output = Output(as_json, io.TextIOWrapper(raw, encoding="latin-1"), io.StringIO())
        output.text("é 語") if not as_json else output.json({"text": "é 語 🐦"})
        output.flush()
        assert raw.getvalue() == (b'{"text": "\\u00e9 \\u8a9e \\ud83d\\udc26"}\n' if as_json else b"\xe9 \\u8a9e\n")


def test_rich_is_loaded_only_for_a_terminal() -> None:
    probe = (
        "import io, sys; from covey.surfaces.cli.terminal.output import Output; "
        "class_ = type('Tty', (io.StringIO,), {'isatty': lambda self: True}); "
        "show = lambda out: Output(False, out).table(('a', 'b'), [('1', '2')], ''); "
        "show(io.StringIO()); print('rich' in sys.modules); show(class_()); print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["False", "True"]
