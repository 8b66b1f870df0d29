"""The screen of a space: agents, questions, tasks, children, waits and stopped exchanges, as lines of a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.errors import MessageDamaged
from covey.core.ledger.message import Message
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.waits import Edge
from covey.core.names import AgentName, MessageId
from covey.core.reporting import counted
from covey.core.storms.budget import Tree
from covey.core.storms.flow import StormStop
from covey.core.work.task import Task
from covey.services.care.status import AgentStatus, SpaceStatus
from covey.services.space import Services
from covey.surfaces.cli.children.runs import short_id
from covey.surfaces.cli.operation.storms import stop_subject
from covey.surfaces.cli.space.agents import describe_pause, presence
from covey.surfaces.cli.tasks.options import task_name
from covey.surfaces.cli.tasks.records import find_message, title
from covey.surfaces.cli.terminal.layout import Line, Piece, cut, shares
from covey.surfaces.cli.terminal.text import cells, clipped, fitted, one_line, printable, wrapped
from covey.surfaces.cli.times import age

LONGEST: Final = 200
"""Maximum length of a text. Other verbs show the whole."""
GAP: Final = 2
INDENT: Final = "    "
WIDEST: Final = 24
"""Maximum width of a column that is not the last."""
MIN_TEXT: Final = 24
"""Minimum width of the last column, which holds the text. On a narrower screen it stands below its row."""
MOST_ROWS: Final = 12
"""Maximum number of rows of a section where the height is not limited."""


MIN_SECTION: Final = 3
"""Minimum height of a section: an empty line, its head, and the number of its rows."""


class Target(NamedTuple):
    """The agent or the thread that a row is about."""

    agent: AgentName | None = None
    message: MessageId | None = None


class ScreenRow(NamedTuple):
    """A row of the screen, which takes one line or two."""

    lines: Sequence[Line]
    target: Target | None = None


class ScreenSection(NamedTuple):
    head: Sequence[Line]
    rows: Sequence[ScreenRow]
    command: str
    """The command that shows all rows."""


class SpaceScreen(NamedTuple):
    """The status of a space, with the texts of its questions and tasks."""

    store: str
    status: SpaceStatus
    texts: Mapping[MessageId, str]
    names: Mapping[MessageId, str]
    """The short names of the tasks."""

    def doing(self, agent: AgentStatus) -> str:
        """Return an agent's status, or the task that it works on."""
        return agent.view.status or (title(agent.current) if agent.current else "")


class StatusReader:
    """Reads the screen of a space. Texts and names never change, and are read once."""

    def __init__(self, services: Services, store: str) -> None:
        self._services = services
        self._store = store
        self._texts: dict[MessageId, str] = {}
        self._names: dict[MessageId, str] = {}

    async def read(self, most: int | None = None) -> SpaceScreen:
        """Return the screen, with the texts of the first `most` questions and tasks, or of all."""
        status = await self._services.status.read()
        for ticket in by_urgency(status)[:most]:
            await self._read_text(ticket.message_id)
        for task in status.tasks[:most]:
            await self._read_text(task.id)
            if task.id not in self._names:
                self._names[task.id] = await task_name(self._services, task)
        return SpaceScreen(self._store, status, self._texts, self._names)

    async def _read_text(self, message_id: MessageId) -> None:
        if message_id not in self._texts:
            message = await self._message(message_id)
            self._texts[message_id] = clipped(title(message), LONGEST) if message else ""

    async def _message(self, message_id: MessageId) -> Message | None:
        try:
            return await find_message(self._services, message_id)
        except MessageDamaged:  # the inbox reports it
            return None


def by_urgency(status: SpaceStatus) -> Sequence[Ticket]:
    """Return the unanswered questions: overdue ones first, then the oldest."""
    return sorted(status.owed, key=lambda ticket: not is_overdue(ticket, status.at))


def is_overdue(ticket: Ticket, now: datetime) -> bool:
    return ticket.due_at is not None and ticket.due_at <= now


def totals(status: SpaceStatus, now: datetime) -> str:
    """Return the totals of a space on one line."""
    live = sum(bool(agent.view.sessions) for agent in status.agents)
    unseen = sum(agent.unseen or 0 for agent in status.agents)
    overdue = sum(is_overdue(ticket, now) for ticket in status.owed)
    states = Counter(str(task.state) for task in status.tasks)
    said = [
        f"{counted(len(status.agents), 'agent')}, {live} live",
        f"{unseen} unseen",
        f"{len(status.owed)} owed" + (f", {overdue} overdue" if overdue else ""),
        counted(len(status.tasks), "task")
        + (f" ({', '.join(f'{n} {state}' for state, n in states.items())})" if states else ""),
        counted(len(status.children), "child", "children") if status.children else "",
        counted(len(_waits(status)), "wait") if _waits(status) else "",
        f"{len(status.stopped)} stopped" if status.stopped else "",
    ]
    return " · ".join(filter(None, said))


def screen_lines(
    screen: SpaceScreen, now: datetime, size: tuple[int, int | None], styles: Mapping[str, str]
) -> Sequence[Line]:
    """Return the lines of the screen for a terminal of that many columns, and lines if they are limited."""
    width, height = size
    head, sections = head_of(screen, now, width), sections_of(screen, now, width, styles)
    if height is None:
        rooms = [_height(section.head, section.rows[:MOST_ROWS]) + 1 for section in sections]
    else:
        sections = sections[: max(1, (height - len(head)) // MIN_SECTION)]  # the totals count the others too
        needed = [_height(section.head, section.rows) for section in sections]
        rooms = shares(needed, height - len(head) - len(sections))
    lines = [*head]
    for section, room in zip(sections, rooms, strict=True):
        lines += [(), *_cut_section(section, room)]
    return [cut(line, width) for line in lines[:height]]


def _height(head: Sequence[Line], rows: Sequence[ScreenRow]) -> int:
    return len(head) + sum(len(row.lines) for row in rows)


def _cut_section(section: ScreenSection, room: int) -> Sequence[Line]:
    """Return as much of a section as fits, and the number of rows that do not."""
    lines = [*section.head]
    for n, row in enumerate(section.rows):
        is_last = n == len(section.rows) - 1
        if len(lines) + len(row.lines) + (0 if is_last else 1) > room:
            lines.append([(f"… {len(section.rows) - n} more: {section.command}", "dim")])
            break
        lines += row.lines
    return lines[: max(room, 0)]


def head_of(screen: SpaceScreen, now: datetime, width: int) -> Sequence[Line]:
    """Return the store, the totals, and a pause of the whole space."""
    status = screen.status
    lines: list[Line] = [[(screen.store, "bold")], *([(line, "")] for line in wrapped(totals(status, now), width, 3))]
    if status.pause is not None:
        lines.append([(f"The space is {describe_pause(status.pause)}. `covey resume` ends the pause.", "yellow")])
    return lines


def sections_of(screen: SpaceScreen, now: datetime, width: int, styles: Mapping[str, str]) -> Sequence[ScreenSection]:
    """Return the sections of a screen that have something to show, or a sentence that there is nothing."""
    status = screen.status
    if not status.agents:
        return [_sentence("No agent is known here. `covey join NAME` adds one.")]
    sections = [
        _agents(screen, now, width, styles),
        _owed(screen, now, width),
        _tasks(screen, now, width, styles),
        _children(screen, now, width, styles),
        _waiting(screen, now, width),
        _stopped(screen, now, width),
    ]
    shown = [section for section in sections if section.rows]
    return [*shown, *([_sentence(_NOTHING)] if len(shown) == 1 else ())]


_NOTHING: Final = "No answer is owed, no task is open, and no agent waits for another."


def _sentence(text: str) -> ScreenSection:
    return ScreenSection([[(text, "dim")]], (), "")


def _agents(screen: SpaceScreen, now: datetime, width: int, styles: Mapping[str, str]) -> ScreenSection:
    rows: list[tuple[Sequence[Piece], Target]] = []
    for agent in screen.status.agents:
        state = presence(agent.view)
        late = sum(is_overdue(ticket, now) for ticket in agent.owed)
        oldest = "" if agent.oldest_unseen_at is None else f" ({age(agent.oldest_unseen_at, now)})"
        row = [
            (agent.view.name, "bold"),
            (state, styles.get(state, "")),
            ("?" if agent.unseen is None else f"{agent.unseen}{oldest}" if agent.unseen else "–", ""),
            (_owes(len(agent.owed), late), "red" if late else ""),
            (screen.doing(agent), ""),
        ]
        rows.append((row, Target(agent=agent.view.name)))
    return section(("agent", "presence", "unseen", "owes", "doing"), rows, width, "covey agents")


def _owes(count: int, late: int) -> str:
    return "–" if not count else f"{count} ({late} late)" if late else str(count)


def _owed(screen: SpaceScreen, now: datetime, width: int) -> ScreenSection:
    rows = [
        (
            [
                (ticket.debtor, "bold"),
                (ticket.asker, ""),
                (age(ticket.opened_at, now), ""),
                (_due(ticket, now), "red" if is_overdue(ticket, now) else ""),
                (screen.texts.get(ticket.message_id, ""), ""),
            ],
            Target(message=ticket.message_id),
        )
        for ticket in by_urgency(screen.status)
    ]
    return section(("owed by", "to", "age", "due", "question"), rows, width, "covey owed")


def _due(ticket: Ticket, now: datetime) -> str:
    if ticket.due_at is None:
        return "–"
    return f"{age(ticket.due_at, now)} ago" if is_overdue(ticket, now) else f"in {age(now, ticket.due_at)}"


def _tasks(screen: SpaceScreen, now: datetime, width: int, styles: Mapping[str, str]) -> ScreenSection:
    rows = [
        (
            [
                (_task_name(screen, task), "bold"),
                (str(task.state), styles.get(task.state, "")),
                (age(task.created_at, now), ""),
                (task.delegator, ""),
                (screen.texts.get(task.id, ""), ""),
            ],
            Target(message=task.id),
        )
        for task in screen.status.tasks
    ]
    return section(("task", "state", "age", "from", "text"), rows, width, "covey tasks")


def _task_name(screen: SpaceScreen, task: Task) -> str:
    """Return the short name of a task; its agent if the task has no number."""
    name = screen.names.get(task.id, task.id)
    return task.agent if name == task.id else name


def _children(screen: SpaceScreen, now: datetime, width: int, styles: Mapping[str, str]) -> ScreenSection:
    rows = [
        (
            [
                (f"{run.label} ({run.agent})" if run.label else run.agent, "bold"),
                (str(run.state), styles.get(run.state, "")),
                (age(run.started_at, now), ""),
                (run.parent_agent, ""),
                (f"{short_id(run)} {run.description}".strip(), ""),
            ],
            Target(message=run.request),
        )
        for run, _ in screen.status.children
    ]
    return section(("child", "state", "age", "parent", "run"), rows, width, "covey sessions")


def _waits(status: SpaceStatus) -> Sequence[Edge]:
    """Return the waits that block their agents. An answer that is only owed is listed as such."""
    return [edge for edge in status.waits if edge.is_wait]


def _waiting(screen: SpaceScreen, now: datetime, width: int) -> ScreenSection:
    rows = [
        (
            [
                (edge.waiter, "bold"),
                (edge.awaited, ""),
                (age(edge.since, now), ""),
                (age(now, edge.until) if edge.until else "", ""),
                (_awaited(screen, edge), ""),
            ],
            Target(message=MessageId(edge.what.partition("@")[0])),
        )
        for edge in _waits(screen.status)
    ]
    return section(("waits", "for", "since", "left", "answer or task"), rows, width, "covey waits")


def _awaited(screen: SpaceScreen, edge: Edge) -> str:
    message_id = MessageId(edge.what.partition("@")[0])
    return screen.texts.get(message_id) or f"{'task' if edge.is_task else 'answer'} {message_id}"


def _stopped(screen: SpaceScreen, now: datetime, width: int) -> ScreenSection:
    rows = [
        (
            [(age(stopped_at(found), now), ""), (stopped_subject(found), "yellow")],
            Target(message=found.id if isinstance(found, StormStop) else found.root),
        )
        for found in screen.status.stopped
    ]
    return section(("stopped", "exchange"), rows, width, "covey storms")


def stopped_at(found: Tree | StormStop) -> datetime:
    if isinstance(found, StormStop):
        return found.at
    return found.stopped_at or max(talk.stopped_at or found.updated_at for talk in found.talks)


def stopped_subject(found: Tree | StormStop) -> str:
    """Return the stopped exchange in words."""
    if isinstance(found, StormStop):
        return stop_subject(found)
    why = f"by its limit of {found.stopped}" if found.stopped is not None else "because it repeated itself"
    return f"tree of {counted(found.messages, 'message')}, stopped {why}"


def section(
    names: Sequence[str], rows: Sequence[tuple[Sequence[Piece], Target]], width: int, command: str
) -> ScreenSection:
    """Lay out rows under their columns. The last column gets the rest of the width, or a line of its own."""
    texts = [[fitted(printable(clipped(one_line(text), LONGEST)), WIDEST) for text, _ in row[:-1]] for row, _ in rows]
    widths = [max(map(cells, column)) for column in zip(names[:-1], *texts, strict=True)]
    is_below = width - sum(widths) - GAP * len(widths) < MIN_TEXT
    shown = names[:-1] if is_below else names
    head = [(_padded(name, widths, n) if n < len(shown) - 1 else name, "dim") for n, name in enumerate(shown)]
    found: list[ScreenRow] = []
    for (row, target), cut_texts in zip(rows, texts, strict=True):
        last, style = clipped(one_line(row[-1][0]), LONGEST), row[-1][1]
        is_beside = bool(last) and not is_below
        line: list[Piece] = [
            (_padded(text, widths, n) if is_beside or n < len(widths) - 1 else text, style)
            for n, (text, (_, style)) in enumerate(zip(cut_texts, row, strict=False))
        ]
        below: Sequence[Line] = [[(f"{INDENT}{last}", style)]] if last and is_below else ()
        found.append(ScreenRow([[*line, (last, style)] if is_beside else line, *below], target))
    return ScreenSection([head], found, command)


def _padded(text: str, widths: Sequence[int], n: int) -> str:
    return text + " " * (widths[n] + GAP - cells(text)) if n < len(widths) else text


def flat_rows(sections: Sequence[ScreenSection]) -> Iterator[ScreenRow]:
    """Yield all rows of all sections, with their heads and an empty line between them."""
    for section in sections:
        yield ScreenRow([(), *section.head])
        yield from section.rows
