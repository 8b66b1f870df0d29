"""The visible page of a terminal after a program's output.

Only the control sequences that Covey writes are supported.
"""

import re

from covey.surfaces.cli.terminal.text import cells
from tests.surfaces.terminal import COLUMNS, ROWS

_PIECE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


def page(text: str, columns: int = COLUMNS, rows: int = ROWS) -> list[str]:
    """Return the visible lines of the terminal. Only the codes for home, erasing and colours are supported."""
    grid = [[" "] * columns for _ in range(rows)]
    row = column = 0
    for piece in _PIECE.finditer(text):
        character, argument, code = piece[0], piece[1], piece[2]
        if code == "H":
            row = column = 0
        elif code == "K":
            grid[row][0 if argument == "2" else column :] = [" "] * (columns if argument == "2" else columns - column)
        elif code == "J":
            grid[row][column:] = [" "] * (columns - column)
            grid[row + 1 :] = [[" "] * columns for _ in range(rows - row - 1)]
        elif code is not None:
            continue
        elif character == "\r":
            column = 0
        elif character == "\n" or column + cells(character) > columns:
            assert character == "\n", f"a line is wider than the terminal: {''.join(grid[row])}"
            row += 1
            if row == rows:
                grid = [*grid[1:], [" "] * columns]
                row -= 1
        else:
            grid[row][column : column + cells(character)] = [character, *[""] * (cells(character) - 1)]
            column += cells(character)
    return ["".join(line).rstrip() for line in grid]
