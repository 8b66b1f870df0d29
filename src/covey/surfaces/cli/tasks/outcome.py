"""The outcome of a task, for a command that waits for it: the result on stdout, and an exit code for each end."""

import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Final

from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.event import Action
from covey.core.ledger.message import has_files
from covey.core.names import MessageId
from covey.core.work.task import FINISHED, TaskState
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, FAILED, REJECTED, UNAVAILABLE
from covey.surfaces.cli.tasks.options import task_name, task_number
from covey.surfaces.cli.tasks.records import TaskStep, find_message, is_shown, is_step, step_of, task_document
from covey.surfaces.cli.terminal.layout import event_line
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.text import fitted, one_line, printable
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.messages import extras

EXITS: Final[Mapping[TaskState, int]] = {
    TaskState.COMPLETED: DONE,
    TaskState.REJECTED: REJECTED,
    TaskState.FAILED: FAILED,
}

EXIT_HELP: Final = """\
exit codes:
  0    completed
  4    not finished yet: it goes on; `covey task ID --wait 1h` waits on
  5    rejected
  6    failed, cancelled, or its deadline passed
  130  Ctrl-C: it goes on all the same"""


def task_exit(view: TaskView) -> int:
    """Return the exit code for the state of a task."""
    return EXITS.get(view.task.state, UNAVAILABLE)


def show_outcome(call: Call, view: TaskView, lead: str) -> None:
    """Write the result of a task, or why there is none and how to look again."""
    output, task = call.output, view.task
    if output.as_json:
        output.json(_document(call, view))
        return
    name = call.run(task_name(call.services, task))
    if not task.is_finished:
        output.note(f"{lead}. The task goes on; look again, wait on or take it back with:")
        for words in (["task", name], ["task", name, "--wait", "1h"], ["cancel", name, "--as", task.delegator]):
            output.note("  " + shlex.join(call.command(words)))
        return
    result = call.run(find_message(call.services, task.result))
    if task.state is not TaskState.COMPLETED:
        word = "was rejected" if task.state is TaskState.REJECTED else "has failed"
        output.note(f"Task {name} {word}: {one_line(task.reason or 'no reason was given')}.")
        output.note(f"More of it: {shlex.join(call.command(['task', name]))}")
    elif result is not None and result.text:
        output.text(result.text)
    for line in extras(result) if result else ():
        output.note(f"With it came: {line}")
    if result and has_files(result.parts):
        output.note(f"Save files with: {shlex.join(call.command(['task', name, '--save', 'FOLDER']))}")


def _document(call: Call, view: TaskView) -> dict[str, Json]:
    task = view.task
    result = call.run(find_message(call.services, task.result))
    return {
        "id": task.id,
        "state": str(task.state),
        "reason": task.reason,
        "text": result.text if result and task.state is TaskState.COMPLETED else None,
        "result": message_document(result) if result else None,
        "task": task_document(view, call.run(task_number(call.services, task))),
        "resume": None if task.is_finished else list(call.command(["task", task.id, "--wait", "1h"])),
    }


_STATES: Final = frozenset(TaskState)


async def await_task(
    services: Services, output: Output, task_id: MessageId, actor: Identity | None, seconds: float
) -> TaskView:
    """Return the task when it is finished, or in its present state after the timeout.

    If `actor` delegated the task, its updates then leave the actor's inbox.
    """
    from covey.surfaces.cli.live import ticking  # imported late because it loads an event loop

    line = TaskStatusLine(output, services.clock.monotonic)
    try:
        async with ticking(line.draw, sys.stderr.isatty() and not output.as_json):
            view = await _follow_task(services, task_id, line, seconds)
    finally:
        line.clear()
    if view.task.is_finished and actor is not None:
        return await services.tasks.result(task_id, actor, 0) or view
    return view


async def _follow_task(services: Services, task_id: MessageId, line: "TaskStatusLine", seconds: float) -> TaskView:
    """Show each event of a task from its beginning on, until it is finished or the timeout has passed."""
    clock = services.clock
    ends_at = clock.monotonic() + seconds
    after = 0
    while True:
        events = await services.tasks.changes(task_id, after, max(0.0, ends_at - clock.monotonic()))
        for event in events:
            after = event.position
            if is_step(event) and is_shown(step := await step_of(services, event)):
                line.tell(step)
        view = await services.tasks.view(task_id)
        if view.task.is_finished or clock.monotonic() >= ends_at:
            return view


class TaskStatusLine:
    """The state of a task on one line that is redrawn in place. Its moves stay above it, a line each."""

    def __init__(self, output: Output, monotonic: Callable[[], float]) -> None:
        self._output = output
        self._monotonic = monotonic
        self._since = monotonic()
        self._state = str(TaskState.PENDING)
        self._text = ""

    def tell(self, step: TaskStep) -> None:
        """Add a step of the task. The waiting command shows the end together with the result."""
        if step.word == "progress":
            self._text = one_line(step.text)
        elif step.event.action is not Action.MESSAGE_SENT:
            self._state = step.word if step.word in _STATES else self._state
            self._text = ""
            self.clear()
            self._output.step(event_line(step.at, step.word, "" if self._state in FINISHED else step.text))
        self.draw()

    def draw(self) -> None:
        """Show the state, and the time waited so far."""
        if self._state not in FINISHED:
            waited = int(self._monotonic() - self._since)
            line = f"{self._state} · {waited // 60}:{waited % 60:02}{f' · {self._text}' if self._text else ''}"
            self._output.status(fitted(printable(line), columns() - 1))

    def clear(self) -> None:
        self._output.status("")
