"""The taking of tasks into a session: a task is taken and returned to the caller, or released."""

import asyncio
from contextlib import suppress
from typing import Any

from covey.core.errors import CoveyError
from covey.core.identity import Identity
from covey.core.limits import TASK_ATTEMPTS
from covey.finishing import Finisher
from covey.runtime.tasks.held import HeldTask
from covey.services.space import Services
from covey.services.tasks.duties import Judge
from covey.services.tasks.tasks import TaskView


class Taking:
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
