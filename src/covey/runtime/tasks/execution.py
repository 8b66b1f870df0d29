"""The execution of one task: start it, call the handler, and hand in the outcome, unless the task ends before that.

A worker reports the events of its tasks and of its store.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, IllegalMove, NotFound, Rejected, TaskTaken
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.message import Kind
from covey.core.names import message_topic, session_inbox
from covey.core.work.task import Task, TaskState
from covey.runtime.retry import retried
from covey.runtime.tasks.held_task import Answer, Failure, HeldTask, failure_of, hand_in, outcome_of
from covey.services.mail.inbox import InboxFilter
from covey.services.space import Services


class Moment(StrEnum):
    """The moments of a task that a worker reports."""

    TAKEN = "taken"
    STARTED = "started"
    PROGRESS = "progress"
    """The handler reports progress."""
    COMPLETED = "completed"
    FAILED = "failed"
    OVER = "over"
    """The task ended elsewhere: it was cancelled, its deadline passed, or another session has it."""
    LEFT = "left"
    """The worker ends first, and leaves the task for the next session."""
    TROUBLE = "trouble"
    """The store is temporarily unavailable; the worker retries."""


class TaskEvent(NamedTuple):
    moment: Moment
    task: HeldTask | None
    """The task of the event; None for trouble with the store."""
    text: str = ""


Tell = Callable[[TaskEvent], None]


def trouble(tell: Tell) -> Callable[[str], None]:
    """Return a function that reports each failure of the store as an event."""
    return lambda message: tell(TaskEvent(Moment.TROUBLE, None, message))


WATCH_AFTER_S: Final = 0.1
"""A task that takes longer than this is watched, because it may be cancelled or reassigned."""
WAIT_S: Final = 3600.0
"""Longest single wait; the wait is then repeated."""

Handler = Callable[[HeldTask], Awaitable[Answer]]


class TaskExecution:
    """One task of a worker.

    Whatever its handler does, the task ends once and the delegator is notified, or the task is left for the next
    session.
    """

    def __init__(self, services: Services, actor: Identity, held: HeldTask, tell: Tell) -> None:
        self._services = services
        self._actor = actor
        self._held = held
        self._tell = tell
        self._trouble = trouble(tell)

    async def do(self, handler: Handler) -> None:
        """Handle the task to its end. A cancellation cancels the handler, and releases the task."""
        try:
            over = await self._do(handler)
            if over is None or self._is_completed(over):
                task = over or self._held.record
                if self._is_completed(task):
                    self._say(Moment.COMPLETED, await self._result(task))
                else:
                    self._say(Moment.FAILED, task.reason or "")
            else:
                await self._put_notices_away()
                self._say(Moment.OVER, over.reason or str(over.state) if over.is_finished else "another session has it")
        except asyncio.CancelledError:
            with suppress(CoveyError):  # the end of the session releases it too
                await self._held.let_go()
            self._say(Moment.LEFT)
            raise

    async def _do(self, handler: Handler) -> Task | None:
        """Start the task, call the handler, and hand in the outcome. Return the task if it ended first, else None."""
        held = self._held
        try:
            if held.state is not TaskState.WORKING:
                await retried(held.start, self._trouble)
            self._say(Moment.STARTED)
            over, answer = await self._answer(handler)
            if over is None and not held.record.is_finished:
                await self._hand_in(answer)
            return over
        except (IllegalMove, TaskTaken):
            return (await retried(lambda: self._services.tasks.view(held.id), self._trouble)).task

    async def _answer(self, handler: Handler) -> tuple[Task | None, Answer]:
        """Return the handler's result, or the task if it ended first."""
        over: Task | None = None

        async def watch() -> None:
            nonlocal over
            task = await self._until_over()
            if not self._is_completed(task):  # after handing in its result, the handler may still clean up
                over = task
                handling.cancel()

        async with asyncio.TaskGroup() as group:
            handling = group.create_task(_handled(handler, self._held))
            watching = group.create_task(watch())
            handling.add_done_callback(lambda _: watching.cancel())
        return over, Failure("the handler cancelled itself") if handling.cancelled() else handling.result()

    async def _until_over(self) -> Task:
        """Wait until the task is over for this worker: finished elsewhere, or held by another session."""
        await asyncio.sleep(WATCH_AFTER_S)
        held, services = self._held, self._services

        async def look() -> Task | None:
            task = (await services.tasks.view(held.id)).task
            is_ours = task.claimed_by == self._actor.session and task.attempt == held.attempt
            return None if is_ours and not task.is_finished else task

        async def wait() -> Task | None:
            deadline, now = held.record.deadline, services.clock.now()
            left = WAIT_S if deadline is None else min(WAIT_S, max(0.0, (deadline - now).total_seconds()))
            return await services.waiting.until([message_topic(held.id)], look, left)

        while (over := await retried(wait, self._trouble)) is None:
            pass
        return over

    def _is_completed(self, task: Task) -> bool:
        """Tell whether the task was completed in this attempt, perhaps from another process."""
        return task.state is TaskState.COMPLETED and task.attempt == self._held.attempt

    async def _hand_in(self, answer: Answer) -> None:
        """Complete or fail the task; a result that is refused becomes a failure."""
        try:
            outcome = outcome_of(answer)
            await retried(lambda: hand_in(self._held, outcome), self._trouble)
        except (IllegalMove, TaskTaken):
            raise
        except Rejected as error:
            failure = failure_of(error)._replace(text=f"The result can't be handed in: {error.message}.")
            await retried(lambda: hand_in(self._held, failure), self._trouble)

    async def _result(self, task: Task) -> str:
        """Return the text of a completed task's result, or "" if it has none."""
        result = task.result
        if result is None:
            return ""
        try:
            return (await retried(lambda: self._services.mail.message(result), self._trouble)).text
        except NotFound:  # it was pruned meanwhile
            return ""

    async def _put_notices_away(self) -> None:
        """Settle the notices that tell the session to stop, because it has stopped. A passed deadline is recorded
        first."""
        await retried(self._services.upkeep.tend, self._trouble)
        if self._actor.session is None:
            return
        inbox, wanted = session_inbox(self._actor.session), InboxFilter(kind=Kind.UPDATE)
        for item in await retried(lambda: self._services.inbox.peek_inbox(inbox, wanted), self._trouble):
            told, about = item.message, item.message.task
            if told.sender == THE_SPACE and about is not None and about.id == self._held.id:
                await self._services.mail.settle(told.id, self._actor, "it has stopped")

    def _say(self, moment: Moment, text: str = "") -> None:
        self._tell(TaskEvent(moment, self._held, text))


async def _handled(handler: Handler, held: HeldTask) -> Answer:
    try:
        return await handler(held)
    except Exception as error:  # noqa: BLE001 - any error of a handler is the task's outcome
        return failure_of(error)
