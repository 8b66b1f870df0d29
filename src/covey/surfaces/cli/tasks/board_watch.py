"""The board on a terminal: drawn when something changes, every second for its clocks, and until a key ends it."""

import asyncio
import signal
from collections.abc import Sequence
from typing import Final

from covey.core.event import Event
from covey.core.ids import MessageId
from covey.core.task import Task
from covey.ports.journal import EventFilter
from covey.ports.tasks import TaskFilter
from covey.services.space import Services
from covey.services.tasks import TaskView
from covey.surfaces.cli.follow import follow
from covey.surfaces.cli.keys import keys
from covey.surfaces.cli.letters import clipped
from covey.surfaces.cli.output import Output
from covey.surfaces.cli.tasks.board import LONGEST, Column, Entry, board, columns_of
from covey.surfaces.cli.tasks.naming import name_of
from covey.surfaces.cli.tasks.story import is_step, said
from covey.surfaces.cli.ticking import ticking

CALM_SECONDS: Final = 0.1
"""How long it waits after it has looked: what happens meanwhile is shown at once."""

MOST_FINISHED: Final = 50
HINT: Final = "q ends it · covey task NAME shows one of them"


async def watch_board(
    services: Services, output: Output, wanted: TaskFilter, limit: int, seconds: float | None
) -> None:
    """Show the board until q or Ctrl-C is pressed, or so many seconds have passed."""
    watcher = Watcher(services, wanted, limit)
    this, is_over = asyncio.current_task(), False
    loop = asyncio.get_running_loop()

    def end() -> None:
        nonlocal is_over
        is_over = True
        if this is not None:
            this.cancel()

    async def show(events: Sequence[Event]) -> bool:
        if any(is_step(event) for event in events):
            await watcher.look()
            draw()
            await asyncio.sleep(CALM_SECONDS)
        return True

    after = await services.history.last()
    await watcher.look()
    with output.canvas() as canvas, keys("q", end):

        def draw() -> None:
            canvas.draw(board(watcher.columns, services.clock.now(), canvas.room, canvas.styles), HINT)

        loop.add_signal_handler(signal.SIGWINCH, draw)
        loop.add_signal_handler(signal.SIGTERM, end)
        try:
            async with ticking(draw):
                await follow(services, after, show, EventFilter(), seconds)
        except asyncio.CancelledError:
            if not is_over or this is None:
                raise
            this.uncancel()
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            loop.remove_signal_handler(signal.SIGTERM)


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
