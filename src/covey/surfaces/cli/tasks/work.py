"""The verb `work`: an agent on duty, with a line for each event and a live line for each running task."""

import asyncio
import os
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

from covey.core.directory.session import Session
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.limits import TASK_ATTEMPTS
from covey.core.names import parse_agent_name
from covey.core.store_url import WORK_FOLDER, StoreUrl
from covey.core.times import format_instant
from covey.engines import engine_of, home_of
from covey.runtime.duty import Duty, keep_on_duty
from covey.runtime.programs.command import check_program, parse_command
from covey.runtime.tasks.execution import Moment, TaskEvent
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.live import ticking
from covey.surfaces.cli.options.drafts import card_with
from covey.surfaces.cli.terminal.layout import show_event_line
from covey.surfaces.cli.terminal.output import Output, columns
from covey.surfaces.cli.terminal.text import cells, fitted, one_line, printable
from covey.surfaces.cli.times import parse_span, positive

SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LONGEST_TITLE: Final = 100
MOST: Final = 10
"""Maximum number of tasks with a line of their own. The others are counted."""

STOPPING: Final = "No new tasks are taken. Running tasks go on; a second Ctrl-C stops them."
STOPPING_NOW: Final = "The running tasks are stopped, and left for the next session."


def _work_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="AGENT", help="the agent whose tasks are done; a new name is registered")
    parser.add_argument(
        "--run", required=True, metavar="COMMAND", help="the program for each task, quoted as in a shell"
    )
    parser.add_argument(
        "--concurrency", type=positive, default=1, metavar="N", help="maximum number of tasks at once (default 1)"
    )
    parser.add_argument("--once", action="store_true", help="end when no task is left")
    parser.add_argument("--bare-prompt", action="store_true", help="make the prompt of the task's text alone")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--time-limit", metavar="SPAN", help="stop a program, and fail its task, after 90s, 30m, 2h")
    limits.add_argument(
        "--grace", metavar="SPAN", default="5s", help="time for a program to end after a stop signal (5s)"
    )
    limits.add_argument(
        "--attempts",
        type=positive,
        default=TASK_ATTEMPTS,
        metavar="N",
        help=f"fail a task after so many sessions took it up (default {TASK_ATTEMPTS})",
    )
    limits.add_argument(
        "--drain", metavar="SPAN", default="10m", help="time for running tasks when the worker stops (10m)"
    )
    limits.add_argument(
        "--folder", metavar="PATH", help="the folder for the tasks' folders (default: beside the space)"
    )
    limits.add_argument(
        "--keep", type=positive, default=100, metavar="N", help="keep the newest N folders of tasks (default 100)"
    )
    card = parser.add_argument_group("the agent's card; options that are not given leave it unchanged")
    card.add_argument(
        "--quota", type=positive, metavar="N", help="maximum number of tasks at once over all its sessions"
    )
    card.add_argument("--description", metavar="TEXT", help="the purpose of the agent")
    card.add_argument(
        "--capability", metavar="TEXT", action="append", help="a capability of the agent; may be repeated"
    )


def _run_work(call: Call) -> int:
    options, url = call.options, engine_of(call.url).absolute(call.url)
    agent = parse_agent_name(options.name)
    command = parse_command(options.run)
    check_program(command, Path.cwd())
    duty = Duty(
        agent=agent,
        command=command,
        folder=_folder(options.folder, url) / agent,
        concurrency=options.concurrency,
        attempts=options.attempts,
        keep=options.keep,
        is_bare=options.bare_prompt,
        until_idle=options.once,
        time_limit=_limit(options.time_limit),
        grace=parse_span(options.grace),
        drain=parse_span(options.drain),
        card=card_with(
            call, agent, quota=options.quota, description=options.description, capabilities=options.capability
        ),
    )
    call.tell_of_new_space(comes_now=True)
    return DONE if asyncio.run(_work(url, duty, WorkerOutput(call.output, duty.concurrency))) else INTERRUPTED


WORK: Final = Verb(
    arguments=_work_arguments,
    run=_run_work,
    description="""\
Keep an agent on duty: take its tasks as they arrive, run a program for each task, and hand in the program's output as
the result. Each result is shown in one line. No shell is involved; {prompt}, {task}, {folder} and {agent} in the
command are replaced. Without {prompt} the program reads the prompt on stdin. Files of the task are in
$COVEY_FOLDER/attachments, and files that the program writes to $COVEY_FOLDER/output go with the result. An output line
that begins with "::progress " reports progress.

After Ctrl-C or SIGTERM no new tasks are taken, and running tasks go on to their end; a second signal stops them. The
exit code is 0 if every task that was begun is finished, and 130 if tasks are left for the next session.""",
    examples="""\
examples:
  covey work coder --run 'claude -p {prompt} --output-format json'
  covey work tester --run ./run-tests.sh --concurrency 4 --time-limit 30m
  covey work coder --run 'codex exec {prompt}' --once --json""",
)


class WorkerOutput:
    """Writes events. For a person at a terminal, `draw` shows the running tasks below them."""

    def __init__(self, output: Output, concurrency: int) -> None:
        self._output = output
        self._concurrency = concurrency
        self.is_live = output.is_for_a_person and os.environ.get("TERM", "dumb") != "dumb"
        self._footer = output.footer() if self.is_live else None
        self._running: dict[str, tuple[TaskEvent, datetime]] = {}
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

    def happened(self, event: TaskEvent) -> None:
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
            show_event_line(self._output, now, event.moment, _words(event, self._output.is_for_a_person))
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

    def _json_of(self, event: TaskEvent) -> None:
        fields: dict[str, Json] = {"text": event.text or None}
        if (task := event.task) is not None:
            fields |= {"task": task.id, "from": task.delegator, "attempt": task.attempt}
        self._json(event.moment, **fields)

    def _json(self, event: str, **fields: Json) -> None:
        self._output.json({"event": event, "at": format_instant(datetime.now(UTC)), **fields})
        self._output.flush()


def _words(event: TaskEvent, is_for_a_person: bool) -> str:
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
    said = fitted(one_line(event.text), LONGEST_TITLE)
    arrow = "→ " if said and event.moment is Moment.COMPLETED else ""
    return f"{title if is_for_a_person else task.id}  {arrow}{said}".rstrip()


def _line(wheel: str, event: TaskEvent, spent: timedelta) -> list[tuple[str, str]]:
    """Return the line of a running task: its time, its title and its last report."""
    assert event.task is not None
    seconds = int(spent.total_seconds())
    clock = f"{wheel} {seconds // 60}:{seconds % 60:02} "
    title = fitted(printable(one_line(event.task.text)), columns() // 2)
    said = event.text if event.moment is Moment.PROGRESS else f"from {event.task.delegator}"
    room = columns() - 1 - cells(clock) - cells(title) - 3
    return [(clock, "cyan"), (title, ""), (f" · {fitted(printable(one_line(said)), max(1, room))}", "dim")]


async def _work(url: StoreUrl, duty: Duty, shown: WorkerOutput) -> bool:
    async with ticking(shown.draw, shown.is_live):
        return await keep_on_duty(url, duty, shown)


def _folder(given: str | None, url: StoreUrl) -> Path:
    """Return the folder of tasks: the given one, or one beside the store."""
    if not engine_of(url).capabilities.is_shared:
        raise Invalid("store", str(url), "nobody else could hand it a task; use sqlite:PATH")
    if given:
        return Path(given).expanduser().absolute()
    home = home_of(url)
    if home is None:
        raise Invalid("folder", None, f"{url} has no folder on this machine; name one: --folder PATH")
    return Path(home) / WORK_FOLDER


def _limit(text: str | None) -> timedelta | None:
    if text is None:
        return None
    if not (span := parse_span(text)):
        raise Invalid("time limit", text, "use at least 1s")
    return span
