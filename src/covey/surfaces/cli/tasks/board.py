"""The live view of tasks: a board for a person at a terminal, lines for programs. Both follow the journal."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Final, NamedTuple

from covey.core.errors import NotFound
from covey.core.ledger.event import Event
from covey.core.names import MessageId
from covey.core.work.task import Task, TaskState
from covey.ports.ledger import EventFilter
from covey.ports.work import TaskFilter
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.live import follow, run_live
from covey.surfaces.cli.live_page import live_page
from covey.surfaces.cli.tasks.options import task_name, task_number
from covey.surfaces.cli.tasks.records import due, find_message, is_shown, is_step, step_of, task_document, title
from covey.surfaces.cli.terminal.layout import Line, Piece, cut, shares, show_event_line
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.screen import Canvas
from covey.surfaces.cli.terminal.text import cells, clipped, fitted, one_line, printable, wrapped
from covey.surfaces.cli.times import age
from covey.surfaces.cli.views.events import event_document

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


class BoardColumn(NamedTuple):
    title: str
    entries: Sequence[BoardEntry]
    total: int


def columns_of(open_tasks: Sequence[BoardEntry], finished: Sequence[BoardEntry]) -> Sequence[BoardColumn]:
    """Return the columns: pending and active tasks, oldest first, and finished tasks, newest first."""
    pending = [entry for entry in open_tasks if entry.task.state is TaskState.PENDING]
    active = [entry for entry in open_tasks if entry.task.state is not TaskState.PENDING]
    ended = sorted(finished, key=lambda entry: entry.task.finished_at or entry.task.updated_at, reverse=True)
    return [
        BoardColumn(name, entries, len(entries))
        for name, entries in (("pending", pending), ("at work", active), ("finished", ended))
    ]


def board(
    columns: Sequence[BoardColumn], now: datetime, size: tuple[int, int], styles: Mapping[str, str]
) -> Sequence[Line]:
    """Return the lines of the board for a terminal of that many columns and lines."""
    width, height = size
    if width < NARROWEST:
        needed = [len(_column(column, now, width, FOREVER, styles)) for column in columns]
        each = zip(columns, shares(needed, height), strict=True)
        return [line for column, share in each for line in _column(column, now, width, share, styles)]
    each = (width - GAP * (len(columns) - 1)) // len(columns)
    drawn = [_column(column, now, each, height, styles) for column in columns]
    return [_beside(row, each) for row in zip_longest(*drawn, fillvalue=())]


def _column(column: BoardColumn, now: datetime, width: int, height: int, styles: Mapping[str, str]) -> Sequence[Line]:
    lines: list[Line] = [[(f"{column.title} {column.total}", "bold")], [("─" * width, "dim")]]
    for n, entry in enumerate(column.entries):
        card = _card(entry, now, width, styles)
        is_last = n == len(column.entries) - 1
        # Reserves a line for the number of tasks that do not fit.
        if len(lines) + len(card) + (0 if is_last else 2) > height:
            lines.append([(f"… {len(column.entries) - n} more", "dim")])
            break
        lines += [*card, ()]
    return [cut(line, width) for line in lines[:height]]


def _card(entry: BoardEntry, now: datetime, width: int, styles: Mapping[str, str]) -> Sequence[Line]:
    """Return the card of one task: name, state, age, title, delegator, deadline and last update."""
    task = entry.task
    since = age(task.finished_at or task.created_at, now)
    state: Piece = (f" {task.state}", styles.get(task.state, "")) if task.state is not TaskState.PENDING else ("", "")
    left = due(task, now)
    room = width - len(state[0]) - len(since) - 1
    lines: list[Line] = [
        [(_named(entry, room), "bold"), state, (f" {since}", "dim")],
        *([(line, "")] for line in wrapped(title(entry.view.message), width, TITLE_LINES)),
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


def _beside(row: Sequence[Line], width: int) -> Line:
    """Return one line across all columns."""
    pieces: list[Piece] = []
    for n, line in enumerate(row):
        pieces += line
        if n < len(row) - 1:
            pieces.append((" " * (width + GAP - sum(cells(text) for text, _ in line)), ""))
    return pieces


def watch(call: Call, wanted: TaskFilter, limit: int, seconds: float | None) -> int:
    """Show the tasks that fit and follow their changes, until the user ends it or that many seconds have passed."""
    if call.output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb":
        run_live(call, lambda services: watch_board(services, call.output, wanted, limit, seconds))
    else:
        call.output.note("Watching tasks; Ctrl-C ends it.")
        run_live(call, lambda services: _watch_lines(services, call.output, wanted, limit, seconds))
    return DONE


async def _watch_lines(
    services: Services, output: Output, wanted: TaskFilter, limit: int, seconds: float | None
) -> None:
    after = await services.history.last()  # read before the tasks, so that no change between the two is missed
    for view in await services.tasks.find(wanted, limit):
        await _write(services, output, view, None)
    output.flush()

    async def show(events: Sequence[Event]) -> bool:
        for event in filter(is_step, events):
            view = await _changed(services, event, wanted)
            if view is not None:
                await _write(services, output, view, event)
        output.flush()
        return True

    await follow(services, after, show, EventFilter(), seconds)


async def _changed(services: Services, event: Event, wanted: TaskFilter) -> TaskView | None:
    """Return the task that an event changed, or None if it does not fit the filter or no longer exists."""
    if event.message_id is None:
        return None
    try:
        view = await services.tasks.view(event.message_id)
    except NotFound:
        return None
    return view if wanted._replace(is_finished=None).fits(view.task) else None


async def _write(services: Services, output: Output, view: TaskView, event: Event | None) -> None:
    """Write a line: the task in its present state, with the event that changed it, if any."""
    task = view.task
    number = await task_number(services, task)
    step = await step_of(services, event) if event else None
    if output.as_json:
        output.json({"event": event_document(event) if event else None, "task": task_document(view, number)})
        return
    if step is not None and not is_shown(step):
        return
    name = f"{task.agent}:{number}" if number else task.id
    said = f": {one_line(step.text)}" if step and step.text else f": {title(view.message)}"
    at = event.at if event else task.updated_at
    show_event_line(output, at, step.word if step else str(task.state), f"{name} from {task.delegator}{said}")


MOST_FINISHED: Final = 50
HINT: Final = "q ends it · covey task NAME shows one of them"


async def watch_board(
    services: Services, output: Output, wanted: TaskFilter, limit: int, seconds: float | None
) -> None:
    """Show the board until q or Ctrl-C is pressed, or that many seconds have passed."""
    watcher = BoardContent(services, wanted, limit)

    def paint(canvas: Canvas) -> None:
        canvas.draw(board(watcher.columns, services.clock.now(), canvas.room, canvas.styles), HINT)

    await live_page(services, output, watcher.look, paint, is_step, seconds)


class BoardContent:
    """The content of the board, as of the last look."""

    def __init__(self, services: Services, wanted: TaskFilter, limit: int) -> None:
        self._services = services
        self._wanted = wanted
        self._limit = limit
        self._names: dict[MessageId, str] = {}
        self._texts: dict[MessageId, str] = {}
        """Cache of the texts of updates: they never change, and results can be long."""
        self.columns: Sequence[BoardColumn] = ()

    async def look(self) -> None:
        """Read the tasks again."""
        find = self._services.tasks.find
        unfinished = await find(self._wanted._replace(is_finished=False), self._limit)
        finished = await find(self._wanted._replace(is_finished=True), min(self._limit, MOST_FINISHED))
        self.columns = columns_of(
            [await self._entry(view) for view in unfinished], [await self._entry(view) for view in finished]
        )

    async def _entry(self, view: TaskView) -> BoardEntry:
        task = view.task
        if task.id not in self._names:
            self._names[task.id] = await task_name(self._services, task)
        return BoardEntry(view, self._names[task.id], await self._said(task))

    async def _said(self, task: Task) -> str:
        """Return the reason of the state, or the text of the last update."""
        update = task.result or task.progress
        if task.reason or update is None:
            return task.reason or ""
        if update not in self._texts:
            message = await find_message(self._services, update)
            self._texts[update] = clipped(message.text, LONGEST) if message else ""
        return self._texts[update]
