"""The footer: lines at the foot of what a person sees. They change in place, and what is worth keeping goes above."""

from collections.abc import Sequence
from typing import Final, TextIO

from covey.surfaces.cli.screen import Screen

_UP: Final = "\x1b[{}A"
_REST_OF_PAGE: Final = "\r\x1b[J"


class Footer:
    """Take it away with `clear` before anything else is written, and draw it again afterwards."""

    def __init__(self, screen: Screen, out: TextIO) -> None:
        self._screen = screen
        self._out = out
        self._height = 0

    def draw(self, lines: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Show these lines instead of the last ones. None may be wider than the terminal."""
        shown = "".join(f"{self._screen.styled(line)}\n" for line in lines)
        self._out.write(self._away() + shown)
        self._out.flush()
        self._height = len(lines)

    def clear(self) -> None:
        """Take the lines away."""
        self._out.write(self._away())
        self._height = 0

    def _away(self) -> str:
        return (_UP.format(self._height) if self._height else "") + _REST_OF_PAGE
