"""Watching tasks: a board for a person at a terminal, lines for programs. Both follow the journal."""

import os
from collections.abc import Sequence
from typing import Final

from covey.core.errors import NotFound
from covey.core.ids import MessageId
from covey.core.ledger.event import Event
from covey.core.work.task import Task
from covey.ports.ledger import EventFilter
from covey.ports.work import TaskFilter
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.living import live_page
from covey.surfaces.cli.tasks.board import LONGEST, BoardEntry, Column, board, columns_of
from covey.surfaces.cli.tasks.document import task_document
from covey.surfaces.cli.tasks.listing import title
from covey.surfaces.cli.tasks.naming import name_of, number_of
from covey.surfaces.cli.tasks.story import is_step, is_told, said, step_of
from covey.surfaces.cli.terminal.canvas import Canvas
from covey.surfaces.cli.terminal.letters import clipped, one_line
from covey.surfaces.cli.terminal.moments import show_moment
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.events import event_document


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
    number = await number_of(services, task)
    step = await step_of(services, event) if event else None
    if output.as_json:
        output.json({"event": event_document(event) if event else None, "task": task_document(view, number)})
        return
    if step is not None and not is_told(step):
        return
    name = f"{task.agent}:{number}" if number else task.id
    said = f": {one_line(step.text)}" if step and step.text else f": {title(view.message)}"
    at = event.at if event else task.updated_at
    show_moment(output, at, step.word if step else str(task.state), f"{name} from {task.delegator}{said}")


MOST_FINISHED: Final = 50
HINT: Final = "q ends it · covey task NAME shows one of them"


async def watch_board(
    services: Services, output: Output, wanted: TaskFilter, limit: int, seconds: float | None
) -> None:
    """Show the board until q or Ctrl-C is pressed, or that many seconds have passed."""
    watcher = Watcher(services, wanted, limit)

    def paint(canvas: Canvas) -> None:
        canvas.draw(board(watcher.columns, services.clock.now(), canvas.room, canvas.styles), HINT)

    await live_page(services, output, watcher.look, paint, is_step, seconds)


class Watcher:
    """The content of the board, as of the last look."""

    def __init__(self, services: Services, wanted: TaskFilter, limit: int) -> None:
        self._services = services
        self._wanted = wanted
        self._limit = limit
        self._names: dict[MessageId, str] = {}
        self._texts: dict[MessageId, str] = {}
        """Cache of the texts of updates: they never change, and results can be long."""
        self.columns: Sequence[Column] = ()

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
            self._names[task.id] = await name_of(self._services, task)
        return BoardEntry(view, self._names[task.id], await self._said(task))

    async def _said(self, task: Task) -> str:
        """Return the reason of the state, or the text of the last update."""
        update = task.result or task.progress
        if task.reason or update is None:
            return task.reason or ""
        if update not in self._texts:
            message = await said(self._services, update)
            self._texts[update] = clipped(message.text, LONGEST) if message else ""
        return self._texts[update]
