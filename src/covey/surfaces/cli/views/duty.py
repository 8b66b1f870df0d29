"""The output of an agent on duty: a line for each event, JSON for programs, and a live line for each running task."""

import os
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from covey.core.directory.session import Session
from covey.core.json import Json
from covey.core.times import format_instant
from covey.runtime.tasks.events import Moment, WorkerEvent
from covey.surfaces.cli.terminal.letters import cells, fitted, one_line, printable
from covey.surfaces.cli.terminal.moments import show_moment
from covey.surfaces.cli.terminal.output import Output, columns

SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LONGEST_TITLE: Final = 100
MOST: Final = 10
"""Maximum number of tasks with a line of their own. The others are counted."""

STOPPING: Final = "No new tasks are taken; what runs goes on to its end. Once more stops it."
STOPPING_NOW: Final = "Stopping what runs; its tasks are left for the next session."


class Shown:
    """Writes events. For a person at a terminal, `draw` shows the running tasks below them."""

    def __init__(self, output: Output, concurrency: int) -> None:
        self._output = output
        self._concurrency = concurrency
        self.is_live = output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
        self._footer = output.footer() if self.is_live else None
        self._running: dict[str, tuple[WorkerEvent, datetime]] = {}
        self._turns = count()

    def begin(self, session: Session, quota: int) -> None:
        """Show the session that is on duty."""
        if self._output.as_json:
            self._json("ready", agent=session.agent, session=session.id, key=str(session.key), quota=quota)
            return
        self._output.note(f"{session.key} is on duty, up to {min(self._concurrency, quota)} at once; Ctrl-C ends it.")
        if quota < self._concurrency:
            self._output.note(
                f"{session.agent} has a quota of {quota}; --quota {self._concurrency} would let it do more."
            )

    def happened(self, event: WorkerEvent) -> None:
        """Write one event of a task."""
        task, now = event.task, datetime.now(UTC)
        if task is not None:
            if event.moment in (Moment.TAKEN, Moment.STARTED, Moment.PROGRESS):
                since = self._running.get(task.id, (event, now))[1]
                self._running[task.id] = event, since
            else:
                self._running.pop(task.id, None)
        if self._output.as_json:
            self._json_of(event)
        elif not (self.is_live and event.moment in (Moment.STARTED, Moment.PROGRESS)):
            if self._footer is not None:
                self._footer.clear()
            show_moment(self._output, now, event.moment, _words(event, self._output.is_for_a_person))
            self._output.flush()
        self.draw()

    def stopping(self, is_at_once: bool) -> None:
        """Say that the worker is stopping."""
        if self._output.as_json:
            self._json("stopping", at_once=is_at_once)
            return
        if self._footer is not None:
            self._footer.clear()
            self._output.flush()
        self._output.note(STOPPING_NOW if is_at_once else STOPPING)
        self.draw()

    def draw(self) -> None:
        """Redraw the running tasks, if a person watches."""
        if self._footer is None:
            return
        wheel, now = SPINNER[next(self._turns) % len(SPINNER)], datetime.now(UTC)
        lines = [_line(wheel, event, now - since) for event, since in self._running.values()]
        if len(lines) > MOST:
            lines[MOST - 1 :] = [[(f"  and {len(lines) - MOST + 1} more", "dim")]]
        self._footer.draw(lines)

    def _json_of(self, event: WorkerEvent) -> None:
        fields: dict[str, Json] = {"text": event.text or None}
        if (task := event.task) is not None:
            fields |= {"task": task.id, "from": task.delegator, "attempt": task.attempt}
        self._json(event.moment, **fields)

    def _json(self, event: str, **fields: Json) -> None:
        self._output.json({"event": event, "at": format_instant(datetime.now(UTC)), **fields})
        self._output.flush()


def _words(event: WorkerEvent, is_for_a_person: bool) -> str:
    """Return an event in words: its task, the delegator and the text.

    For a person the task's text names it. In logs its id does.
    """
    task = event.task
    if task is None:
        return event.text
    title = fitted(one_line(task.text), LONGEST_TITLE)
    if event.moment is Moment.TAKEN:
        again = f" (attempt {task.attempt})" if task.attempt > 1 else ""
        words = f"from {task.delegator}{again}: {title}"
        return words if is_for_a_person else f"{task.id}  {words}"
    return f"{title if is_for_a_person else task.id}  {event.text}".rstrip()


def _line(wheel: str, event: WorkerEvent, spent: timedelta) -> list[tuple[str, str]]:
    """Return the line of a running task: its time, its title and its last report."""
    assert event.task is not None
    seconds = int(spent.total_seconds())
    clock = f"{wheel} {seconds // 60}:{seconds % 60:02} "
    title = fitted(printable(one_line(event.task.text)), columns() // 2)
    said = event.text if event.moment is Moment.PROGRESS else f"from {event.task.delegator}"
    room = columns() - 1 - cells(clock) - cells(title) - 3
    return [(clock, "cyan"), (title, ""), (f" · {fitted(printable(one_line(said)), max(1, room))}", "dim")]
