"""The screen: tables, colour and live pages for a person at a terminal. It is the only module that imports rich."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from covey.surfaces.cli.terminal.text import clipped, fitted, one_line, printable

GAP: Final = 2
WIDEST: Final = 20
"""Maximum width of an unbroken word. A longer word is split so that the table still fits."""
MIN_LAST: Final = 24
"""Minimum width of the last column, which holds the text."""
LONGEST: Final = 400
"""Maximum length of a cell. Other verbs show the whole text."""
HEIGHT: Final = 25
"""Required by rich, which otherwise takes a dumb terminal to be 80 columns wide. The output does not depend on it."""

COPIED: Final = frozenset({"id", "message", "key", "session"})
"""Columns with values that people copy, so they are never wrapped."""

BODIES: Final = frozenset({"text"})
"""Columns with the bodies of messages, which are capped."""
BODY_LINES: Final = 2
"""Maximum number of lines of a body, unless the whole text is wanted."""

COLOURED: Final = frozenset({"state", "presence", "kind"})

STYLES: Final[Mapping[str, str]] = {
    "queued": "yellow",
    "offered": "blue",
    "in_context": "cyan",
    "handled": "green",
    "evicted": "red",
    "expired": "red",
    "refused": "red",
    "undeliverable": "red",
    "superseded": "magenta",
    "withdrawn": "magenta",
    "open": "yellow",
    "answered": "cyan",
    "closed": "green",
    "pending": "yellow",
    "accepted": "blue",
    "working": "cyan",
    "progress": "cyan",
    "completed": "green",
    "failed": "red",
    "rejected": "red",
    "starting": "yellow",
    "running": "cyan",
    "timed_out": "red",
    "stopped": "magenta",
    "lost": "red",
    "idle": "green",
    "busy": "yellow",
    "offline": "dim",
    "request": "bold",
}
"""Styles of states, presences and kinds in their columns."""


class Screen:
    """Writes to a terminal. Texts of messages are never interpreted as markup."""

    def __init__(self, out: TextIO) -> None:
        is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "dumb") == "dumb"
        self._out = out
        self._console = Console(
            file=out,
            height=HEIGHT,
            force_terminal=True,
            color_system=None if is_plain else "standard",
            markup=False,
            highlight=False,
            emoji=False,
        )

    def pieces(
        self, pieces: Sequence[tuple[str, str]], lead: str, margin: str, width: int, *, is_body: bool = False
    ) -> None:
        """Write one line of styled pieces after its lead, wrapped. `margin` begins each further line.

        A body is capped.
        """
        line = Text.assemble(*((printable(text), style) for text, style in pieces))
        room = max(MIN_LAST, width - cell_len(margin))
        first, *others = line.wrap(self._console, max(MIN_LAST, width - cell_len(lead))) or [line]
        if others:
            # The further lines begin elsewhere, so that they have another width.
            rest = line[len(first.plain) :]
            rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
            others = rest.wrap(self._console, room)
        rows = [first, *others]
        for n, row in enumerate(_capped(rows, room) if is_body else rows):
            row.rstrip()
            self._console.print(Text.assemble((margin if n else lead, "dim"), row), soft_wrap=True)

    def style(self, word: str) -> str:
        """Return the style of a state, a presence or a kind."""
        return STYLES.get(word, "")

    def styled(self, pieces: Sequence[tuple[str, str]]) -> str:
        """Return one line of styled pieces, with their colour codes."""
        with self._console.capture() as captured:
            line = Text.assemble(*((printable(text), style) for text, style in pieces))
            self._console.print(line, soft_wrap=True, end="")
        return captured.get()

    def live_page(self) -> "LivePage":
        """Return a page that covers the terminal."""
        return LivePage(self._console)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, is_full: bool) -> None:
        """Write rows under their columns, with whole texts if `is_full` is set.

        On a narrow screen the first layout that fits is used: columns are wrapped, copied values go below their row, or
        each row becomes a block of lines.
        """
        capped = frozenset[str]() if is_full else BODIES
        cells = [[printable(one_line(cell)) for cell in row] for row in rows]
        if not is_full:
            cells = [[clipped(cell, LONGEST) for cell in row] for row in cells]
        used = [n for n in range(len(columns)) if any(row[n] for row in cells)]
        beside = [n for n in used if columns[n] not in COPIED]
        for grid in (used, beside):
            shown = [[row[n] for n in grid] for row in cells]
            widths = fitting([columns[n] for n in grid], shown, width)
            if widths is not None:
                below = [[row[n] for n in used if n not in grid and row[n]] for row in cells]
                self._grid([columns[n] for n in grid], shown, below, widths, capped)
                return
        self._blocks([columns[n] for n in used], [[row[n] for n in used] for row in cells], width, capped)

    def _grid(
        self,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        below: Sequence[Sequence[str]],
        widths: Sequence[int],
        capped: Collection[str],
    ) -> None:
        self._row(names, [Text(name, "bold") for name in names], widths, capped)
        for row, more in zip(rows, below, strict=True):
            styled = [Text(cell, _style(name, cell)) for name, cell in zip(names, row, strict=True)]
            self._row(names, styled, widths, capped)
            for cell in more:
                self._console.print(Text(f"  {cell}", "dim"), soft_wrap=True)

    def _row(self, names: Sequence[str], cells: Sequence[Text], widths: Sequence[int], capped: Collection[str]) -> None:
        wrapped: list[Sequence[Text]] = []
        for name, cell, width in zip(names, cells, widths, strict=True):
            lines = [*cell.wrap(self._console, width, overflow="fold")]
            wrapped.append(_capped(lines, width) if name in capped else lines)
        for n in range(max(len(lines) for lines in wrapped)):
            row = Text()
            for name, lines, width in zip(names, wrapped, widths, strict=True):
                line = lines[n] if n < len(lines) else Text()
                line.rstrip()
                rest = " " * (width - line.cell_len)
                row.append_text(Text.assemble(rest, line) if name == "#" else Text.assemble(line, rest))
                row.append(" " * GAP)
            row.rstrip()
            self._console.print(row, soft_wrap=True)

    def _blocks(self, names: Sequence[str], rows: Sequence[Sequence[str]], width: int, capped: Collection[str]) -> None:
        for n, row in enumerate(rows):
            if n:
                self._out.write("\n")
            for name, cell in zip(names, row, strict=True):
                if cell:
                    pieces = [(f"{name}: ", "bold"), (cell, _style(name, cell))]
                    self.pieces(pieces, "", "  ", width, is_body=name in capped)


class LivePage:
    """A page on the alternate screen of a terminal, from `start` to `stop`. Each `show` is one write."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(
            console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )

    def start(self) -> None:
        self._live.start()

    def stop(self) -> None:
        self._live.stop()

    def show(self, lines: Sequence[Sequence[tuple[str, str]]], width: int) -> None:
        """Show these lines, as many as the terminal has."""
        self._console.size = ConsoleDimensions(width, len(lines))
        shown = (Text.assemble(*((printable(text), style) for text, style in line)) for line in lines)
        self._live.update(Text("\n", no_wrap=True, overflow="crop", end="").join(shown), refresh=True)


def _capped(lines: Sequence[Text], width: int) -> Sequence[Text]:
    """Return the first lines of a body, with an ellipsis for the rest."""
    if len(lines) <= BODY_LINES:
        return lines
    *head, last = lines[:BODY_LINES]
    last.rstrip()
    last.truncate(width - 1)
    last.append("…")
    return [*head, last]


def fitting(names: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Sequence[int] | None:
    """Return the width of each column so that all fit, or None if words would have to be split."""
    columns = [[name, *(row[n] for row in rows)] for n, name in enumerate(names)]
    widths = [max(map(cell_len, column)) for column in columns]
    least = [_least(name, column) for name, column in zip(names, columns, strict=True)]
    least[-1] = max(least[-1], min(MIN_LAST, widths[-1]))
    room -= GAP * (len(names) - 1)
    # The last column shrinks first, because it holds the text; then the widest of the others.
    widths[-1] = max(least[-1], min(widths[-1], room - sum(widths[:-1])))
    while sum(widths) > room:
        slack, n = max((width - least[n], n) for n, width in enumerate(widths))
        if slack <= 0:
            return None
        widths[n] -= 1
    return widths


def _least(name: str, column: Sequence[str]) -> int:
    """Return the minimum width of a column: its longest word, or its longest cell if people copy it."""
    pieces = column if name in COPIED else [word for cell in column for word in cell.split()]
    widest = max(map(cell_len, pieces), default=0)
    return widest if name in COPIED else min(widest, WIDEST)


def _style(name: str, cell: str) -> str:
    return STYLES.get(cell.partition(" ")[0].rstrip(","), "") if name in COLOURED else ""


LOWEST: Final = 24


class Canvas:
    """A full-screen page. Use it as `with output.canvas() as canvas: canvas.draw(lines, hint)`."""

    def __init__(self, screen: Screen, columns: Callable[[], int]) -> None:
        self._page = screen.live_page()
        self._columns = columns
        self.styles: Mapping[str, str] = STYLES

    @property
    def room(self) -> tuple[int, int]:
        """The columns and lines that are free above the hint."""
        return self._columns(), max(1, _height() - 2)

    def draw(self, lines: Sequence[Sequence[tuple[str, str]]], hint: str) -> None:
        """Replace the shown lines, and show a hint at the bottom."""
        width, height = self.room
        shown = [*lines[:height], *[()] * (height - len(lines))]
        self._page.show([*shown, (), [(fitted(hint, width - 1), "dim")]], width)

    def __enter__(self) -> Self:
        self._page.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._page.stop()


def _height() -> int:
    try:
        return os.get_terminal_size(1).lines or LOWEST
    except OSError:
        return LOWEST


_UP: Final = "\x1b[{}A"
_REST_OF_PAGE: Final = "\r\x1b[J"


class Footer:
    """Lines at the bottom of the output. Call `clear` before any other output, and `draw` again afterwards."""

    def __init__(self, screen: Screen, out: TextIO) -> None:
        self._screen = screen
        self._out = out
        self._height = 0

    def draw(self, lines: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Replace the shown lines. No line may be wider than the terminal."""
        shown = "".join(f"{self._screen.styled(line)}\n" for line in lines)
        self._out.write(self._away() + shown)
        self._out.flush()
        self._height = len(lines)

    def clear(self) -> None:
        """Remove the lines."""
        self._out.write(self._away())
        self._height = 0

    def _away(self) -> str:
        return (_UP.format(self._height) if self._height else "") + _REST_OF_PAGE
