"""The canvas: a page that covers a person's terminal while a verb runs, and restores it afterwards."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from covey.surfaces.cli.terminal.letters import fitted
from covey.surfaces.cli.terminal.screen import STYLES, Screen

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
