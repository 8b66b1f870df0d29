"""What a person or a program sees: tables for people, JSON for programs, one line for an error."""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from covey.core.errors import CoveyError, Invalid
from covey.core.json import Json

MIN_LAST_COLUMN: Final = 20
UNLIMITED: Final = 1_000_000


class Output:
    """Writes results to stdout and everything else to stderr."""

    def __init__(self, as_json: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def json(self, value: Json) -> None:
        """Write a result for programs: one line."""
        self._out.write(json.dumps(value, ensure_ascii=False) + "\n")

    def text(self, line: str = "") -> None:
        """Write a result for people; control characters of what others wrote do not reach the terminal."""
        self._out.write(printable(line) + "\n")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> None:
        """Write rows under their columns; `empty` where there are none."""
        if not rows:
            self.text(empty)
            return
        cells = [[one_line(cell) for cell in row] for row in (columns, *rows)]
        widths = [max(len(row[n]) for row in cells) for n in range(len(columns) - 1)]
        room = max(MIN_LAST_COLUMN, self._width() - sum(widths) - 2 * len(widths))
        for row in cells:
            head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
            for n, line in enumerate(wrapped(row[-1], room)):
                self.text((head if n == 0 else " " * len(head)) + line)

    def note(self, line: str) -> None:
        """Tell a person something beside the result."""
        if not self.as_json:
            self._err.write(printable(line) + "\n")
            self._err.flush()

    def error(self, error: CoveyError) -> None:
        """Write an error: one line for people with what to do next, an envelope for programs."""
        if self.as_json:
            self.json(envelope(error))
        else:
            # A wrong value's message ends with the rule that it breaks: there is nothing to add.
            advice = "" if isinstance(error, Invalid) else f" {error.advice}"
            stop = "" if error.message.endswith((".", "?")) else "."
            self._err.write(printable(f"covey: {error.message}{stop}{advice}") + "\n")

    def flush(self) -> None:
        self._out.flush()

    def _width(self) -> int:
        """Return how wide a line may be; what is piped elsewhere is not wrapped."""
        return shutil.get_terminal_size().columns if self._out.isatty() else UNLIMITED


def envelope(error: CoveyError) -> Mapping[str, Json]:
    """Return an error as programs get it."""
    return {"error": {"code": error.code, "message": error.message, "details": dict(error.details)}}


def printable(text: str) -> str:
    """Return text without what could steer a terminal: control, bidirectional and invisible characters."""
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text)


def one_line(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


def wrapped(text: str, width: int) -> Sequence[str]:
    """Return text in lines of at most `width`, broken between words where that can be."""
    lines: list[str] = []
    while len(text) > width:
        cut = text.rfind(" ", 1, width + 1)
        cut = cut if cut > 0 else width
        lines.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*lines, text]
