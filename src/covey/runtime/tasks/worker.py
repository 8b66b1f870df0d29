"""A worker: it takes the tasks of its agent as they arrive, up to its limit of concurrency.

A task is taken into a session and returned to the caller, or released.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

from covey.core.errors import CoveyError
from covey.core.identity import Identity
from covey.core.limits import TASK_ATTEMPTS
from covey.runtime.cancellation import Finisher
from covey.runtime.retry import retried
from covey.runtime.tasks.execution import WAIT_S, Handler, Moment, TaskEvent, TaskExecution, Tell, trouble
from covey.runtime.tasks.held_task import HeldTask, failure_of
from covey.services.space import Services
from covey.services.tasks.duties import Judge
from covey.services.tasks.tasks import TaskView


class TaskIntake:
    """The taking of one session's tasks, one after the other. If the caller is cancelled while a task is taken or
    judged, the task is left for another session."""

    def __init__(
        self,
        services: Services,
        actor: Identity,
        finisher: Finisher,
        judge: Judge | None,
        *,
        starts: bool,
        attempts: int = TASK_ATTEMPTS,
    ) -> None:
        self._services = services
        self._actor = actor
        self._finisher = finisher
        self._judge = judge
        self._starts = starts
        self._attempts = attempts
        self._is_judging = False

    async def take(self) -> HeldTask | None:
        """Take the next task that the agent can do, or return None."""
        return await self._finisher.acquire(self._take(), self._let_go, self._stop_judging)

    async def wait(self, limit_s: float) -> HeldTask | None:
        """Wait for the next task; return None after the timeout."""
        return await self._services.duties.next(self._actor, limit_s, self.take)

    async def _take(self) -> HeldTask | None:
        judge = None if self._judge is None else self._judged
        view = await self._services.duties.take(self._actor, judge=judge, starts=self._starts, attempts=self._attempts)
        return None if view is None else self._held(view)

    async def _judged(self, view: TaskView) -> str | None:
        assert self._judge is not None
        self._is_judging = True
        try:
            return await self._judge(view)
        except BaseException:
            await self._let_go(self._held(view))
            raise
        finally:
            self._is_judging = False

    def _stop_judging(self, task: asyncio.Task[Any]) -> None:
        """Cancel the agent's own judgement, which may take any time. A commit is not interrupted."""
        if self._is_judging:
            task.cancel()

    async def _let_go(self, taken: HeldTask | None) -> None:
        if taken is not None:
            with suppress(CoveyError):  # the end of the session releases it too
                await taken.let_go()

    def _held(self, view: TaskView) -> HeldTask:
        return HeldTask(view, self._services, self._actor)


DRAIN_S: Final = 600.0


class WorkTerms(NamedTuple):
    """The limits of a worker."""

    concurrency: int = 1
    """Limit of concurrent tasks; the agent's quota applies too."""
    judge: Judge | None = None
    """Called before a task is accepted."""
    attempts: int = TASK_ATTEMPTS
    """Number of sessions that may take a task, one after the other, before the task fails."""
    until_idle: bool = False
    """End when there is nothing to do, instead of waiting for more."""
    drain: float = DRAIN_S
    """Seconds that running tasks have to end after `stop`."""


class Worker:
    """A worker, returned by `me.worker`. If a handler raises, its task fails and the other tasks are not affected."""

    def __init__(
        self,
        services: Services,
        actor: Identity,
        finisher: Finisher,
        handler: Handler,
        terms: WorkTerms,
        tell: Tell,
    ) -> None:
        self._services = services
        self._actor = actor
        self._handler = handler
        self._terms = terms
        # Accepting and starting are reported in one step; a judged task is started by its handling.
        judge = terms.judge and _judged_safely(terms.judge)
        self._taking = TaskIntake(services, actor, finisher, judge, starts=True, attempts=terms.attempts)
        self._tell = tell
        self._trouble = trouble(tell)
        self._running: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._is_stopping = False

    def stop(self) -> None:
        """Take no new tasks; `run` returns when the running tasks are done. Tasks that take longer than `drain` are
        left for the next session. To end at once, cancel `run`."""
        self._is_stopping = True
        self._news.set()

    async def run(self) -> None:
        """Work until `stop`. A cancellation cancels the handlers, and leaves their tasks for the next session."""
        try:
            async with asyncio.TaskGroup() as group:
                while not self._is_stopping:
                    if len(self._running) >= self._terms.concurrency:
                        await self._wait_for_news()
                    elif (taken := await retried(self._taking.take, self._trouble)) is not None:
                        self._begin(group, taken)
                    elif self._terms.until_idle and not self._running:
                        return
                    else:
                        await self._wait_for_news(or_work=True)
                await self._finish_what_runs()
        except BaseExceptionGroup as group:
            raise _first(group) from None

    def _begin(self, group: asyncio.TaskGroup, taken: HeldTask) -> None:
        self._tell(TaskEvent(Moment.TAKEN, taken))
        work = TaskExecution(self._services, self._actor, taken, self._tell)
        task = group.create_task(work.do(self._handler))
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._news.set()

    async def _finish_what_runs(self) -> None:
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=self._terms.drain)
            for task in late:
                task.cancel()

    async def _wait_for_news(self, or_work: bool = False) -> None:
        """Wait until a task has ended or the worker has to stop; with `or_work`, also until a task can be taken."""
        if self._is_stopping:  # set since the last check
            return
        self._news.clear()
        waits: list[Coroutine[Any, Any, bool]] = [self._news.wait()]
        if or_work:
            waits.append(retried(lambda: self._services.duties.ready(self._actor, WAIT_S), self._trouble))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(wait) for wait in waits]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()


def _judged_safely(judge: Judge) -> Judge:
    """Wrap a judge, so that an error in the agent's own code counts as a refusal."""

    async def judged(view: TaskView) -> str | None:
        try:
            return await judge(view)
        except Exception as error:  # noqa: BLE001 - an error of the agent's own code is its answer
            return f"its judgement failed: {failure_of(error).reason}"

    return judged


def _first(error: BaseException) -> BaseException:
    """Return the most useful error of a group: the first CoveyError, or else the first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    errors = [_first(one) for one in cast(BaseExceptionGroup[BaseException], error).exceptions]
    return next((one for one in errors if isinstance(one, CoveyError)), errors[0])
