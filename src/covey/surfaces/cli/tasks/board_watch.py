"""The board on a terminal: what stands on it, and how it lives."""

from collections.abc import Sequence
from typing import Final

from covey.core.ids import MessageId
from covey.core.task import Task
from covey.ports.tasks import TaskFilter
from covey.services.space import Services
from covey.services.tasks import TaskView
from covey.surfaces.cli.canvas import Canvas
from covey.surfaces.cli.letters import clipped
from covey.surfaces.cli.living import live_page
from covey.surfaces.cli.output import Output
from covey.surfaces.cli.tasks.board import LONGEST, Column, Entry, board, columns_of
from covey.surfaces.cli.tasks.naming import name_of
from covey.surfaces.cli.tasks.story import is_step, said

MOST_FINISHED: Final = 50
HINT: Final = "q ends it · covey task NAME shows one of them"


async def watch_board(
    services: Services, output: Output, wanted: TaskFilter, limit: int, seconds: float | None
) -> None:
    """Show the board until q or Ctrl-C is pressed, or so many seconds have passed."""
    watcher = Watcher(services, wanted, limit)

    def paint(canvas: Canvas) -> None:
        canvas.draw(board(watcher.columns, services.clock.now(), canvas.room, canvas.styles), HINT)

    await live_page(services, output, watcher.look, paint, is_step, seconds)


class Watcher:
    """What stands on the board, as it was when last looked at."""

    def __init__(self, services: Services, wanted: TaskFilter, limit: int) -> None:
        self._services = services
        self._wanted = wanted
        self._limit = limit
        self._names: dict[MessageId, str] = {}
        self._texts: dict[MessageId, str] = {}
        """What updates say, each read once: they never change, and results can be long."""
        self.columns: Sequence[Column] = ()

    async def look(self) -> None:
        """Look at the tasks again."""
        find = self._services.tasks.find
        unfinished = await find(self._wanted._replace(is_finished=False), self._limit)
        finished = await find(self._wanted._replace(is_finished=True), min(self._limit, MOST_FINISHED))
        self.columns = columns_of(
            [await self._entry(view) for view in unfinished], [await self._entry(view) for view in finished]
        )

    async def _entry(self, view: TaskView) -> Entry:
        task = view.task
        if task.id not in self._names:
            self._names[task.id] = await name_of(self._services, task)
        return Entry(view, self._names[task.id], await self._said(task))

    async def _said(self, task: Task) -> str:
        """Return why it came to nothing, or what was last said of it."""
        update = task.result or task.progress
        if task.reason or update is None:
            return task.reason or ""
        if update not in self._texts:
            message = await said(self._services, update)
            self._texts[update] = clipped(message.text, LONGEST) if message else ""
        return self._texts[update]
