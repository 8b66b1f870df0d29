"""Workers in the Python API: checked options, and calls of the program's functions with the types of this API."""

from collections.abc import Awaitable, Callable
from typing import TypedDict

from covey.core.checks import check_known, count, flag, function, seconds
from covey.core.identity import Identity
from covey.core.limits import TASK_ATTEMPTS
from covey.finishing import Finisher
from covey.runtime.tasks.events import WorkerEvent
from covey.runtime.tasks.held import HeldTask
from covey.runtime.tasks.results import Answer
from covey.runtime.tasks.worker import DRAIN_S, Worker, WorkTerms
from covey.services.space import Services
from covey.surfaces.python.assignment import Assignment, Judgement, judge_by
from covey.surfaces.python.happenings import Tell, happening_of

Handler = Callable[[Assignment], Awaitable[Answer]]


class WorkOptions(TypedDict, total=False):
    """Options of a worker."""

    concurrency: int
    """The largest number of concurrent tasks, by default 1. The agent's quota applies too."""
    judgement: Judgement | None
    """Called before a task is accepted."""
    attempts: int
    """The number of sessions that may take a task, one after the other, before the task fails."""
    until_idle: bool
    """End when no task is left, instead of waiting for more."""
    drain: float
    """The seconds that running tasks may still take after the worker is told to stop."""
    tell: Tell
    """Called with each event."""


def worker(services: Services, actor: Identity, finisher: Finisher, handler: Handler, options: WorkOptions) -> Worker:
    """Return a worker that calls a handler for each task."""
    check_known(options, WorkOptions.__annotations__)
    function(handler, "handler")
    terms = WorkTerms(
        concurrency=count(options.get("concurrency", 1), "concurrency"),
        judge=judge_by(options.get("judgement"), services, actor),
        attempts=count(options.get("attempts", TASK_ATTEMPTS), "attempts"),
        until_idle=flag(options.get("until_idle", False), "until_idle"),
        drain=seconds(options.get("drain", DRAIN_S), "drain"),
    )
    tell = function(options["tell"], "tell") if "tell" in options else None

    async def handle(held: HeldTask) -> Answer:
        return await handler(Assignment(held))

    def happened(event: WorkerEvent) -> None:
        if tell is not None:
            tell(happening_of(event))

    return Worker(services, actor, finisher, handle, terms, happened)
