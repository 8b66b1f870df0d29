"""Waiting for a task until it is finished or a timeout, with a live line for a person."""

import sys
from collections.abc import Callable
from typing import Final

from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.event import Action
from covey.core.work.task import FINISHED, TaskState
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.tasks.story import Step, is_step, is_told, step_of
from covey.surfaces.cli.terminal.letters import fitted, one_line, printable
from covey.surfaces.cli.terminal.moments import moment
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.ticking import ticking

_STATES: Final = frozenset(TaskState)


async def await_task(
    services: Services, output: Output, task_id: MessageId, actor: Identity | None, seconds: float
) -> TaskView:
    """Return the task when it is finished, or in its present state after the timeout.

    If `actor` delegated the task, its updates then leave the actor's inbox.
    """
    line = LiveLine(output, services.clock.monotonic)
    try:
        async with ticking(line.draw, sys.stderr.isatty() and not output.as_json):
            view = await _follow(services, task_id, line, seconds)
    finally:
        line.clear()
    if view.task.is_finished and actor is not None:
        return await services.tasks.result(task_id, actor, 0) or view
    return view


async def _follow(services: Services, task_id: MessageId, line: "LiveLine", seconds: float) -> TaskView:
    """Show each event of a task from its beginning on, until it is finished or the timeout has passed."""
    clock = services.clock
    ends_at = clock.monotonic() + seconds
    after = 0
    while True:
        events = await services.tasks.changes(task_id, after, max(0.0, ends_at - clock.monotonic()))
        for event in events:
            after = event.position
            if is_step(event) and is_told(step := await step_of(services, event)):
                line.tell(step)
        view = await services.tasks.view(task_id)
        if view.task.is_finished or clock.monotonic() >= ends_at:
            return view


class LiveLine:
    """The state of a task on one line that is redrawn in place. Its moves stay above it, a line each."""

    def __init__(self, output: Output, monotonic: Callable[[], float]) -> None:
        self._output = output
        self._monotonic = monotonic
        self._since = monotonic()
        self._state = str(TaskState.PENDING)
        self._text = ""

    def tell(self, step: Step) -> None:
        """Add a step of the task. The waiting command shows the end together with the result."""
        if step.word == "progress":
            self._text = one_line(step.text)
        elif step.event.action is not Action.MESSAGE_SENT:
            self._state = step.word if step.word in _STATES else self._state
            self._text = ""
            self.clear()
            self._output.step(moment(step.at, step.word, "" if self._state in FINISHED else step.text))
        self.draw()

    def draw(self) -> None:
        """Show the state, and the time waited so far."""
        if self._state not in FINISHED:
            waited = int(self._monotonic() - self._since)
            line = f"{self._state} · {waited // 60}:{waited % 60:02}{f' · {self._text}' if self._text else ''}"
            self._output.status(fitted(printable(line), columns() - 1))

    def clear(self) -> None:
        self._output.status("")
