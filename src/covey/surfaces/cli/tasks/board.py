"""The board: tasks in columns by state, as lines that fit a terminal."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Final, NamedTuple

from covey.core.work.task import Task, TaskState
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.tasks.listing import due, title
from covey.surfaces.cli.terminal.letters import cells, clipped, fitted, one_line, printable

Piece = tuple[str, str]
Line = Sequence[Piece]

GAP: Final = 2
TITLE_LINES: Final = 2
LONGEST: Final = 400
FOREVER: Final = 1_000_000
NARROWEST: Final = 60
"""Minimum width for columns side by side. On a narrower terminal they stand below each other."""


class BoardEntry(NamedTuple):
    """A task on the board, with its short name and its last update."""

    view: TaskView
    name: str
    said: str = ""

    @property
    def task(self) -> Task:
        return self.view.task


class Column(NamedTuple):
    title: str
    entries: Sequence[BoardEntry]
    total: int


def columns_of(open_tasks: Sequence[BoardEntry], finished: Sequence[BoardEntry]) -> Sequence[Column]:
    """Return the columns: pending and active tasks, oldest first, and finished tasks, newest first."""
    pending = [entry for entry in open_tasks if entry.task.state is TaskState.PENDING]
    active = [entry for entry in open_tasks if entry.task.state is not TaskState.PENDING]
    ended = sorted(finished, key=lambda entry: entry.task.finished_at or entry.task.updated_at, reverse=True)
    return [
        Column(name, entries, len(entries))
        for name, entries in (("pending", pending), ("at work", active), ("finished", ended))
    ]


def board(columns: Sequence[Column], now: datetime, size: tuple[int, int], styles: Mapping[str, str]) -> Sequence[Line]:
    """Return the lines of the board for a terminal of that many columns and lines."""
    width, height = size
    if width < NARROWEST:
        needed = [len(_column(column, now, width, FOREVER, styles)) for column in columns]
        shares = zip(columns, _shares(needed, height), strict=True)
        return [line for column, share in shares for line in _column(column, now, width, share, styles)]
    each = (width - GAP * (len(columns) - 1)) // len(columns)
    drawn = [_column(column, now, each, height, styles) for column in columns]
    return [_beside(row, each) for row in zip_longest(*drawn, fillvalue=())]


def _shares(needed: Sequence[int], height: int) -> Sequence[int]:
    """Divide the height among columns that need that many lines. Lines that a small column leaves go to the others."""
    shares, left = dict.fromkeys(range(len(needed)), 0), height
    for n, index in enumerate(sorted(shares, key=lambda i: needed[i])):
        shares[index] = min(needed[index], left // (len(needed) - n))
        left -= shares[index]
    return list(shares.values())


def _column(column: Column, now: datetime, width: int, height: int, styles: Mapping[str, str]) -> Sequence[Line]:
    lines: list[Line] = [[(f"{column.title} {column.total}", "bold")], [("─" * width, "dim")]]
    for n, entry in enumerate(column.entries):
        card = _card(entry, now, width, styles)
        is_last = n == len(column.entries) - 1
        # Reserves a line for the number of tasks that do not fit.
        if len(lines) + len(card) + (0 if is_last else 2) > height:
            lines.append([(f"… {len(column.entries) - n} more", "dim")])
            break
        lines += [*card, ()]
    return [_cut(line, width) for line in lines[:height]]


def _card(entry: BoardEntry, now: datetime, width: int, styles: Mapping[str, str]) -> Sequence[Line]:
    """Return the card of one task: name, state, age, title, delegator, deadline and last update."""
    task = entry.task
    since = age(task.finished_at or task.created_at, now)
    state: Piece = (f" {task.state}", styles.get(task.state, "")) if task.state is not TaskState.PENDING else ("", "")
    left = due(task, now)
    room = width - len(state[0]) - len(since) - 1
    lines: list[Line] = [
        [(_named(entry, room), "bold"), state, (f" {since}", "dim")],
        *([(line, "")] for line in _wrapped(_short(title(entry.view.message)), width)),
        [(f"from {task.delegator}{f', due in {left}' if left else ''}", "dim")],
    ]
    if entry.said:
        lines.append([(fitted(_short(one_line(entry.said)), width), "italic")])
    return lines


def _short(text: str) -> str:
    """Return as much of a text as fits on a card."""
    return printable(clipped(text, LONGEST))


def _named(entry: BoardEntry, width: int) -> str:
    """Return the name of a task in that many cells, always with its number."""
    agent, _, number = entry.name.rpartition(":")
    return f"{fitted(agent, max(1, width - len(number) - 1))}:{number}" if agent else fitted(number, width)


def _wrapped(text: str, width: int) -> Sequence[str]:
    """Return a text, wrapped to the lines that a card has for it."""
    lines: list[str] = []
    rest = text
    while cells(rest) > width and len(lines) < TITLE_LINES - 1:
        end = next(n for n in range(len(rest), 0, -1) if cells(rest[:n]) <= width)
        cut = end if rest[end] == " " else rest.rfind(" ", 0, end)
        lines.append(rest[: cut if cut > 0 else end])
        rest = rest[len(lines[-1]) :].lstrip()
    return [*lines, fitted(rest, width)]


def _beside(row: Sequence[Line], width: int) -> Line:
    """Return one line across all columns."""
    pieces: list[Piece] = []
    for n, line in enumerate(row):
        pieces += line
        if n < len(row) - 1:
            pieces.append((" " * (width + GAP - sum(cells(text) for text, _ in line)), ""))
    return pieces


def _cut(line: Line, width: int) -> Line:
    """Return the line, cut to the width of its column."""
    pieces: list[Piece] = []
    for text, style in line:
        room = width - sum(cells(piece) for piece, _ in pieces)
        if room > 0:
            pieces.append((fitted(printable(text), room), style))
    return pieces
