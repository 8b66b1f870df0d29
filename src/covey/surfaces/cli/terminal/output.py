"""Output: tables for people, JSON for programs, one line for an error."""

import json
import os
import sys
from collections.abc import Callable, Container, Sequence
from functools import cached_property
from typing import Final, TextIO

from covey.core.errors import CoveyError
from covey.core.json import Json
from covey.surfaces.cli.terminal.text import cells, escaped, fitted, one_line, printable

UNLIMITED: Final = 1_000_000
NARROW: Final = 80


class Output:
    """Writes results to stdout and everything else to stderr. A terminal gets colour and lines that fit."""

    def __init__(self, as_json: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = _lenient(out or sys.stdout)
        self._err = _lenient(err or sys.stderr)

    @property
    def is_for_a_person(self) -> bool:
        """True if stdout is a terminal and not a pipe or a file, and JSON was not asked for."""
        return not self.as_json and self._out.isatty()

    @property
    def width(self) -> int:
        """The maximum width of a line. Output to a pipe or file is not wrapped."""
        return columns() if self._out.isatty() else UNLIMITED

    def json(self, value: Json) -> None:
        """Write a result for programs, on one line.

        Control characters are escaped, because the reader may be a terminal.
        """
        is_unicode = (self._out.encoding or "utf-8").lower().startswith("utf")
        self._out.write(escaped(json.dumps(value, ensure_ascii=not is_unicode)) + "\n")

    def text(self, line: str = "", style: str = "") -> None:
        """Write a result for people. Control characters in it do not reach the terminal."""
        self.pieces((line, style))

    def pieces(self, *pieces: tuple[str, str], lead: str = "", margin: str = "", is_body: bool = False) -> None:
        """Write one line of pieces, each with its style, after its lead.

        On a terminal the line is wrapped, and `margin` begins each further line. A body is capped there.
        """
        if self.is_for_a_person and (margin or any(style for _, style in pieces)):
            self._screen.pieces(pieces, lead, margin, self.width, is_body=is_body)
        else:
            self._out.write(printable(lead + "".join(text for text, _ in pieces)) + "\n")

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], empty: str, *, is_full: bool = False
    ) -> None:
        """Write rows under their columns, or `empty` if there are none.

        A terminal gets the first lines of long texts, unless `is_full` is set.
        """
        if not rows:
            self.text(empty)
        elif self.is_for_a_person:
            self._screen.table(columns, rows, self.width, is_full=is_full)
        else:
            lines = [[printable(one_line(cell)) for cell in row] for row in (columns, *rows)]
            widths = [max(cells(row[n]) for row in lines) for n in range(len(columns) - 1)]
            for *head, last in lines:
                padded = (cell + " " * (width - cells(cell)) for cell, width in zip(head, widths, strict=True))
                self._out.write("  ".join((*padded, last)).rstrip() + "\n")

    def style(self, word: str) -> str:
        """Return the style of a state, for people."""
        return self._screen.style(word) if self.is_for_a_person else ""

    def note(self, line: str) -> None:
        """Write a line for people to stderr, beside the result."""
        if not self.as_json:
            self._err.write(printable(line) + "\n")
            self._err.flush()

    def step(self, line: str) -> None:
        """Write one lasting line of progress, if stderr is a terminal."""
        if self._err.isatty():
            self.note(fitted(printable(line), columns()))

    def status(self, line: str) -> None:
        """Replace the status line of a terminal. An empty line removes it."""
        if not self.as_json and self._err.isatty() and os.environ.get("TERM") != "dumb":
            self._err.write("\r\x1b[2K" + printable(line)[: columns() - 1])
            self._err.flush()

    def canvas(self):
        """Return a page that covers a person's terminal while a block runs."""
        from covey.surfaces.cli.terminal.screen import Canvas  # imported late, like the screen

        return Canvas(self._screen, columns)

    def footer(self):
        """Return lines at the bottom of the output that are redrawn in place."""
        from covey.surfaces.cli.terminal.screen import Footer  # imported late, like the screen

        return Footer(self._screen, self._out)

    def error(self, error: CoveyError, code: str | None = None, options: Callable[[], Container[str]] = tuple) -> None:
        """Write an error: one line with advice for people, an envelope for programs.

        `code` replaces the error's code in the envelope. The advice names only `options`, the options of the verb.
        """
        if self.as_json:
            self.json(error.envelope(code))
        else:
            from covey.surfaces.cli.advice import advice

            stop = "" if error.message.endswith((".", "?")) else "."
            self._err.write(printable(one_line(f"covey: {error.message}{stop} {advice(error, options())}")) + "\n")

    def flush(self) -> None:
        self._out.flush()

    def abandon(self) -> None:
        """Discard all further output: the reader has closed the pipe."""
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
        except OSError:  # stdout is replaced by an object without a file
            self._out = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends

    @cached_property
    def _screen(self):
        # Imported late, with an inferred type: only people need rich, and programs should not wait for its import.
        from covey.surfaces.cli.terminal.screen import Screen

        return Screen(self._out)


def columns() -> int:
    """Return the terminal's width: COLUMNS, else its reported size, else 80."""
    # Like shutil.get_terminal_size; importing shutil loads three compression libraries.
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(1).columns or NARROW
    except OSError:
        return NARROW


def _lenient(stream: TextIO) -> TextIO:
    """Return the stream. Characters that its encoding lacks are escaped instead of raising."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and stream.errors == "strict":
        reconfigure(errors="backslashreplace")
    return stream
