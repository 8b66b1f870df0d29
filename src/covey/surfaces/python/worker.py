"""A worker: takes the tasks of its agent as they come, as many at once as it may."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypedDict, cast

from covey.core.errors import CoveyError
from covey.core.identity import Identity
from covey.core.limits import TASK_ATTEMPTS
from covey.finishing import Finisher
from covey.services.duties import Judge
from covey.services.space import Services
from covey.services.tasks import TaskView
from covey.surfaces.python.assignment import Assignment, Judgement, judge_by
from covey.surfaces.python.checks import check_known, count, flag, function, seconds
from covey.surfaces.python.happenings import Happening, Moment, Tell, tell_nobody
from covey.surfaces.python.results import failure_of
from covey.surfaces.python.steadily import steadily
from covey.surfaces.python.taking import Taking
from covey.surfaces.python.work import WAIT_S, Handler, Work

DRAIN_S: Final = 600.0


class WorkOptions(TypedDict, total=False):
    """How a worker works."""

    concurrency: int
    """How many tasks at once, by default 1; the agent's quota holds besides."""
    judgement: Judgement | None
    """Asked before a task is accepted."""
    attempts: int
    """How many sessions may take up a task, one after the other, before it has failed."""
    until_idle: bool
    """End when there is nothing to do, instead of waiting for more."""
    drain: float
    """How many seconds what runs may take when the worker is told to stop."""
    tell: Tell
    """Called with each thing that happens."""


class Worker:
    """Returned by `me.worker`. A task whose handler raises has failed; nothing else comes to harm by it."""

    def __init__(
        self, services: Services, actor: Identity, finisher: Finisher, handler: Handler, options: WorkOptions
    ) -> None:
        self._services = services
        self._actor = actor
        check_known(options, WorkOptions.__annotations__)
        self._handler = function(handler, "handler")
        self._concurrency = count(options.get("concurrency", 1), "concurrency")
        attempts = count(options.get("attempts", TASK_ATTEMPTS), "attempts")
        judge = judge_by(options.get("judgement"), services, actor)
        # Accepting and starting are told in one step; a judged task is started by whoever does it.
        self._taking = Taking(
            services, actor, finisher, judge and _judged_safely(judge), starts=True, attempts=attempts
        )
        self._until_idle = flag(options.get("until_idle", False), "until_idle")
        self._drain = seconds(options.get("drain", DRAIN_S), "drain")
        self._tell = function(options.get("tell", tell_nobody), "tell")
        self._running: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._is_stopping = False

    def stop(self) -> None:
        """Take nothing new; `run` ends when what runs is done. What takes longer than `drain` is left for the next
        session. To end at once, cancel `run`."""
        self._is_stopping = True
        self._news.set()

    async def run(self) -> None:
        """Work until it is stopped. When this is cancelled, so are the handlers, and their tasks are left for the next
        session."""
        try:
            async with asyncio.TaskGroup() as group:
                while not self._is_stopping:
                    if len(self._running) >= self._concurrency:
                        await self._wait_for_news()
                    elif (taken := await steadily(self._taking.take, self._tell)) is not None:
                        self._begin(group, taken)
                    elif self._until_idle and not self._running:
                        return
                    else:
                        await self._wait_for_news(or_work=True)
                await self._finish_what_runs()
        except BaseExceptionGroup as group:
            raise _first(group) from None

    def _begin(self, group: asyncio.TaskGroup, taken: Assignment) -> None:
        self._tell(Happening(Moment.TAKEN, taken))
        work = Work(self._services, self._actor, taken, self._tell)
        task = group.create_task(work.do(self._handler))
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._news.set()

    async def _finish_what_runs(self) -> None:
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=self._drain)
            for task in late:
                task.cancel()

    async def _wait_for_news(self, or_work: bool = False) -> None:
        """Wait until a task has ended or the worker is to stop; with `or_work` also until there is one to take."""
        if self._is_stopping:  # since the last look
            return
        self._news.clear()
        waits: list[Coroutine[Any, Any, bool]] = [self._news.wait()]
        if or_work:
            waits.append(steadily(lambda: self._services.duties.ready(self._actor, WAIT_S), self._tell))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(wait) for wait in waits]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()


def _judged_safely(judge: Judge) -> Judge:
    """Return a judgement that takes an error in the agent's own code for a no."""

    async def judged(view: TaskView) -> str | None:
        try:
            return await judge(view)
        except Exception as error:  # noqa: BLE001 - the agent's own code: what goes wrong in it is its answer
            return f"its judgement failed: {failure_of(error).reason}"

    return judged


def _first(error: BaseException) -> BaseException:
    """Return the one error of a group that says most to a caller."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    errors = [_first(one) for one in cast(BaseExceptionGroup[BaseException], error).exceptions]
    return next((one for one in errors if isinstance(one, CoveyError)), errors[0])
