"""A worker: takes the tasks of its agent as they come, as many at once as it may."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, TypedDict, cast

from covey.core.errors import CoveyError, Invalid
from covey.core.identity import Identity
from covey.core.limits import MAX_COUNT, TASK_ATTEMPTS
from covey.services.space import Services
from covey.services.tasks import TaskView
from covey.surfaces.python.assignment import Assignment, Judgement, judge_by
from covey.surfaces.python.checks import flag, seconds, whole
from covey.surfaces.python.happenings import Happening, Moment, Tell, tell_nobody
from covey.surfaces.python.results import failure_of
from covey.surfaces.python.steadily import steadily
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

    def __init__(self, services: Services, actor: Identity, handler: Handler, options: WorkOptions) -> None:
        self._services = services
        self._actor = actor
        self._handler = handler
        self._concurrency = _count(options.get("concurrency", 1), "concurrency")
        self._attempts = _count(options.get("attempts", TASK_ATTEMPTS), "attempts")
        self._judge = judge_by(options.get("judgement"), services, actor)
        self._until_idle = flag(options.get("until_idle", False), "until_idle")
        self._drain = seconds(options.get("drain", DRAIN_S), "drain")
        self._tell = options.get("tell", tell_nobody)
        self._judged: TaskView | None = None
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
                    elif (taken := await self._take()) is not None:
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

    async def _take(self) -> Assignment | None:
        """Take the next task. One that is being taken while the worker is cancelled is not forgotten, but let go."""
        taking = asyncio.ensure_future(steadily(self._take_once, self._tell))
        try:
            view = await asyncio.shield(taking)
        except asyncio.CancelledError:
            if (judged := self._judged) is not None:
                taking.cancel()
            await asyncio.wait({taking})
            left = judged if taking.cancelled() or taking.exception() is not None else taking.result()
            if left is not None:
                with suppress(CoveyError):  # the end of the session lets go of it too
                    await Assignment(left, self._services, self._actor).let_go()
            raise
        return None if view is None else Assignment(view, self._services, self._actor)

    async def _take_once(self) -> TaskView | None:
        judge = None if self._judge is None else self._judge_noted
        # Accepting and starting are told in one step; a judged task is started by whoever does it.
        return await self._services.duties.take(self._actor, judge=judge, starts=True, attempts=self._attempts)

    async def _judge_noted(self, view: TaskView) -> str | None:
        """Judge a task, and note meanwhile that it is in this session's hands."""
        assert self._judge is not None
        self._judged = view
        try:
            return await self._judge(view)
        except Exception as error:  # noqa: BLE001 - the agent's own code: what goes wrong in it is its answer
            return f"its judgement failed: {failure_of(error).reason}"
        finally:
            self._judged = None


def _first(error: BaseException) -> BaseException:
    """Return the one error of a group that says most to a caller."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    errors = [_first(one) for one in cast(BaseExceptionGroup[BaseException], error).exceptions]
    return next((one for one in errors if isinstance(one, CoveyError)), errors[0])


def _count(value: object, what: str) -> int:
    if not 0 < (number := whole(value, what)) <= MAX_COUNT:
        raise Invalid(what, value, "use a whole number of 1 or more")
    return number
