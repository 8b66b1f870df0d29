"""The canvas: a page that covers a person's terminal while a verb goes on, and leaves it as it was."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from covey.surfaces.cli.letters import fitted
from covey.surfaces.cli.screen import STYLES, Screen

LOWEST: Final = 24
_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_REST_OF_LINE: Final = "\x1b[K"
_REST_OF_PAGE: Final = "\x1b[J"


class Canvas:
    """`with output.canvas() as canvas: canvas.draw(lines, hint)`."""

    def __init__(self, screen: Screen, out: TextIO, columns: Callable[[], int]) -> None:
        self._screen = screen
        self._out = out
        self._columns = columns
        self.styles: Mapping[str, str] = STYLES

    @property
    def room(self) -> tuple[int, int]:
        """How many columns and lines there are for what is drawn above the hint."""
        return self._columns(), max(1, _height() - 2)

    def draw(self, lines: Sequence[Sequence[tuple[str, str]]], hint: str) -> None:
        """Show these lines instead of the last ones, and at the foot a hint."""
        width, height = self.room
        shown = [self._screen.styled(line) for line in lines[:height]]
        shown += [""] * (height - len(shown))
        foot = self._screen.styled([(fitted(hint, width - 1), "dim")])
        # All in one write, so that nobody sees half a page.
        page = "".join(f"{line}{_REST_OF_LINE}\r\n" for line in (*shown, ""))
        self._out.write(f"{_HOME}{page}{foot}{_REST_OF_PAGE}")
        self._out.flush()

    def __enter__(self) -> Self:
        self._out.write(_ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.write(_LEAVE)
        self._out.flush()


def _height() -> int:
    try:
        return os.get_terminal_size(1).lines or LOWEST
    except OSError:
        return LOWEST
