"""A duty: a worker that does the tasks of an agent with a program, until it is stopped."""

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path
from threading import current_thread, main_thread
from typing import NamedTuple, Protocol

from covey.composition import launcher
from covey.core.directory.card import Card
from covey.core.directory.session import Session
from covey.core.errors import IdentityRefused
from covey.core.names import AgentName
from covey.core.store_url import StoreUrl
from covey.runtime.open_space import OpenSpace
from covey.runtime.programs.command import Command
from covey.runtime.programs.folders import TaskFolders
from covey.runtime.programs.runner import ProgramTerms, Runner
from covey.runtime.tasks.execution import Moment, TaskEvent
from covey.runtime.tasks.held_task import Failure, HeldTask, Result
from covey.runtime.tasks.worker import Worker, WorkTerms
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.space import Services


class Duty(NamedTuple):
    """The agent whose tasks are done, the program that does them, and its limits."""

    agent: AgentName
    command: Command
    folder: Path
    card: Card | None = None
    """The new card of the agent; None leaves the card as it is."""
    concurrency: int = 1
    attempts: int = 3
    keep: int = 100
    """Number of task folders that are kept."""
    is_bare: bool = False
    until_idle: bool = False
    time_limit: timedelta | None = None
    grace: timedelta = timedelta(seconds=5)
    """Grace period of a program between the request to end and the kill."""
    drain: timedelta = timedelta(minutes=10)


class DutyDisplay(Protocol):
    """A display of the worker's events, for a person or a program."""

    def begin(self, session: Session, quota: int) -> None: ...
    def happened(self, event: TaskEvent) -> None: ...
    def stopping(self, is_at_once: bool) -> None: ...


async def keep_on_duty(url: StoreUrl, duty: Duty, show: DutyDisplay) -> bool:
    """Work until there is nothing to do, or until a signal. The first signal lets running tasks finish; a second one
    stops them. Return False if unfinished tasks were left for the next session."""
    folders = TaskFolders(duty.folder)
    folders.make_root()
    async with OpenSpace(url, []) as space:
        joined, services = await space.join(JoinRequest(duty.agent, duty.card), await _token(space.services))
        agent = joined.session.agent
        show.begin(joined.session, (await space.services.directory.agent(agent)).card.quota)
        programs = launcher()
        try:
            job = ProgramTerms(
                duty.command, Path.cwd(), _environment(joined, url), duty.is_bare, duty.time_limit, duty.grace
            )
            told = _TrackedDisplay(show)
            runner = Runner(job, folders, programs, agent, space.services.attachments, told.progress)

            async def do(held: HeldTask) -> Result | Failure:
                await folders.clean(space.services.tasks, duty.keep, told.running)
                return await runner.do(held)

            terms = WorkTerms(
                concurrency=duty.concurrency,
                attempts=duty.attempts,
                until_idle=duty.until_idle,
                drain=duty.drain.total_seconds(),
            )
            worker = Worker(services, joined.identity, space.finisher, do, terms, told.happened)
            await _run(worker, show)
            return not told.has_left
        finally:
            await programs.close()


class _TrackedDisplay:
    """A display that forwards events, and keeps the set of running tasks."""

    def __init__(self, show: DutyDisplay) -> None:
        self._show = show
        self.running: set[str] = set()
        self.has_left = False

    def progress(self, held: HeldTask, text: str) -> None:
        self._show.happened(TaskEvent(Moment.PROGRESS, held, text))

    def happened(self, event: TaskEvent) -> None:
        self.has_left |= event.moment is Moment.LEFT
        if event.task is not None:
            is_under_way = event.moment in (Moment.TAKEN, Moment.STARTED)
            (self.running.add if is_under_way else self.running.discard)(event.task.id)
        self._show.happened(event)


async def _run(worker: Worker, show: DutyDisplay) -> None:
    """Run a worker until its end, or until signals end it."""
    running = asyncio.ensure_future(worker.run())
    signals: list[int] = []

    def told(number: int) -> None:
        signals.append(number)
        show.stopping(len(signals) > 1)
        if len(signals) == 1:
            worker.stop()
        else:
            running.cancel()

    heard = (signal.SIGINT, signal.SIGTERM) if current_thread() is main_thread() else ()
    loop = asyncio.get_running_loop()
    for number in heard:
        loop.add_signal_handler(number, told, number)
    try:
        await running
    except asyncio.CancelledError:
        running.cancel()
        await asyncio.wait({running})
        if len(signals) < 2:
            raise
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


async def _token(services: Services) -> str | None:
    token = os.environ.get("COVEY_TOKEN")
    if token is not None and (await services.identities.by_token(token)).is_operator:
        raise IdentityRefused("the operator has no session: put the agent's token into COVEY_TOKEN")
    return token


def _environment(joined: Joined, url: StoreUrl) -> dict[str, str]:
    """Return the environment that lets a program act as the session that runs it."""
    return {
        "COVEY_SESSION": f"{joined.session.id}:{joined.secret}",
        "COVEY_AGENT": joined.session.agent,
        "COVEY_STORE": str(url),
    }
