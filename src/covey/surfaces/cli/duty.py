"""What is seen of an agent on duty: a line for each event, JSON for programs, and a line per task that runs."""

import os
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from covey import Happening, Member, Moment
from covey.core.json import Json
from covey.core.times import format_instant
from covey.surfaces.cli.letters import cells, fitted, one_line, printable
from covey.surfaces.cli.moments import show_moment
from covey.surfaces.cli.output import Output, columns

SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LONGEST_TITLE: Final = 100
MOST: Final = 10
"""So many tasks have a line of their own; the others are counted."""

STOPPING: Final = "No new tasks are taken; what runs goes on to its end. Once more stops it."
STOPPING_NOW: Final = "Stopping what runs; its tasks are left for the next session."


class Shown:
    """Writes what happens. For a person at a terminal `draw` shows below it how each task fares that runs."""

    def __init__(self, output: Output, concurrency: int) -> None:
        self._output = output
        self._concurrency = concurrency
        self.is_live = output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
        self._footer = output.footer() if self.is_live else None
        self._running: dict[str, tuple[Happening, datetime]] = {}
        self._turns = count()

    def begin(self, me: Member, quota: int) -> None:
        """Say who is on duty."""
        if self._output.as_json:
            self._json("ready", agent=me.name, session=me.session.id, key=str(me.session.key), quota=quota)
            return
        self._output.note(
            f"{me.session.key} is on duty, up to {min(self._concurrency, quota)} at once; Ctrl-C ends it."
        )
        if quota < self._concurrency:
            self._output.note(f"{me.name} has a quota of {quota}; --quota {self._concurrency} would let it do more.")

    def happened(self, happening: Happening) -> None:
        """Write down one thing that happened to a task."""
        assignment, now = happening.assignment, datetime.now(UTC)
        if assignment is not None:
            if happening.moment in (Moment.TAKEN, Moment.STARTED, Moment.PROGRESS):
                since = self._running.get(assignment.id, (happening, now))[1]
                self._running[assignment.id] = happening, since
            else:
                self._running.pop(assignment.id, None)
        if self._output.as_json:
            self._json_of(happening)
        elif not (self.is_live and happening.moment in (Moment.STARTED, Moment.PROGRESS)):
            if self._footer is not None:
                self._footer.clear()
            show_moment(self._output, now, happening.moment, _words(happening, self._output.is_for_a_person))
            self._output.flush()
        self.draw()

    def stopping(self, is_at_once: bool) -> None:
        """Say that the end has begun."""
        if self._output.as_json:
            self._json("stopping", at_once=is_at_once)
            return
        if self._footer is not None:
            self._footer.clear()
            self._output.flush()
        self._output.note(STOPPING_NOW if is_at_once else STOPPING)
        self.draw()

    def draw(self) -> None:
        """Show how each task fares that runs, where a person looks."""
        if self._footer is None:
            return
        wheel, now = SPINNER[next(self._turns) % len(SPINNER)], datetime.now(UTC)
        lines = [_line(wheel, happening, now - since) for happening, since in self._running.values()]
        if len(lines) > MOST:
            lines[MOST - 1 :] = [[(f"  and {len(lines) - MOST + 1} more", "dim")]]
        self._footer.draw(lines)

    def _json_of(self, happening: Happening) -> None:
        fields: dict[str, Json] = {"text": happening.text or None}
        if (assignment := happening.assignment) is not None:
            fields |= {"task": assignment.id, "from": assignment.delegator, "attempt": assignment.attempt}
        self._json(happening.moment, **fields)

    def _json(self, event: str, **fields: Json) -> None:
        self._output.json({"event": event, "at": format_instant(datetime.now(UTC)), **fields})
        self._output.flush()


def _words(happening: Happening, is_for_a_person: bool) -> str:
    """Return an event in words: which task, from whom, and what is to be said of it. A person knows a task by what it
    says; logs have its id."""
    assignment = happening.assignment
    if assignment is None:
        return happening.text
    title = fitted(one_line(assignment.text), LONGEST_TITLE)
    if happening.moment is Moment.TAKEN:
        again = f" (attempt {assignment.attempt})" if assignment.attempt > 1 else ""
        words = f"from {assignment.delegator}{again}: {title}"
        return words if is_for_a_person else f"{assignment.id}  {words}"
    return f"{title if is_for_a_person else assignment.id}  {happening.text}".rstrip()


def _line(wheel: str, happening: Happening, spent: timedelta) -> list[tuple[str, str]]:
    """Return how one task fares: for how long, which it is, and what was last said of it."""
    assert happening.assignment is not None
    seconds = int(spent.total_seconds())
    clock = f"{wheel} {seconds // 60}:{seconds % 60:02} "
    title = fitted(printable(one_line(happening.assignment.text)), columns() // 2)
    said = happening.text if happening.moment is Moment.PROGRESS else f"from {happening.assignment.delegator}"
    room = columns() - 1 - cells(clock) - cells(title) - 3
    return [(clock, "cyan"), (title, ""), (f" · {fitted(printable(one_line(said)), max(1, room))}", "dim")]
