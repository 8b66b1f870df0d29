"""Tasks in the Python API: tasks that this program has delegated or taken, and workers that take them."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple, TypedDict, Unpack

from covey.core.checks import check_known, count, flag, function, note, plain, seconds
from covey.core.checks import file as parse_file
from covey.core.checks import files as parse_files
from covey.core.checks import text as parse_text
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import DataPart, FilePart, Kind, Message, Part, TextPart
from covey.core.limits import TASK_ATTEMPTS
from covey.core.names import AgentName, MessageId
from covey.core.work.task import Task, TaskState
from covey.runtime.cancellation import Finisher
from covey.runtime.tasks.execution import Moment, TaskEvent
from covey.runtime.tasks.held_task import Answer, HeldTask
from covey.runtime.tasks.worker import DRAIN_S, Worker, WorkTerms
from covey.services.space import Services
from covey.services.tasks.duties import Judge
from covey.services.tasks.tasks import TaskView
from covey.surfaces.python.messages import MessageOptions, draft_from, policy_from


class Delegated:
    """Returned by `me.delegate`. The object shows the task as of the last read."""

    def __init__(self, view: TaskView, services: Services, actor: Identity) -> None:
        self._view = view
        self._services = services
        self._actor = actor
        self._update: Message | None = None

    @property
    def id(self) -> MessageId:
        return self._view.task.id

    @property
    def record(self) -> Task:
        return self._view.task

    @property
    def state(self) -> TaskState:
        return self._view.task.state

    @property
    def reason(self) -> str | None:
        """The reason for a rejection or a failure."""
        return self._view.task.reason

    async def refresh(self) -> "Delegated":
        """Read the task again."""
        self._view = await self._services.tasks.view(self.id)
        return self

    async def result(self, *, timeout: float | None = 30.0) -> Message | None:
        """Wait until the task is finished, and return the update with its result. Return None on timeout, or if the
        task finished without an update; `timeout=None` waits without limit. `state` has the outcome."""
        found = await self._services.tasks.result(self.id, self._actor, seconds(timeout, "timeout"))
        if found is None:
            await self.refresh()
            return None
        self._view = found
        return None if found.task.result is None else await self._services.mail.message(found.task.result)

    async def watch(self) -> AsyncIterator[Event]:
        """Yield the events of the task from its beginning, as they happen, until the task is finished."""
        after = 0
        while True:
            events = await self._services.tasks.changes(self.id, after, math.inf)
            for event in events:
                after = event.position
                if event.action in (Action.TASK_MOVED, Action.TASK_CLAIMED, Action.TASK_RELEASED):
                    yield event
            await self.refresh()
            if self._view.task.is_finished and not await self._services.tasks.history(self.id, after):
                return

    async def cancel(self, reason: str = "") -> None:
        """Cancel the task. The session that works on the task is told to stop."""
        await self._services.tasks.cancel(self.id, self._actor, note(reason, "reason"))
        await self.refresh()

    async def tree(self) -> Sequence[TaskView]:
        """Return the task with the tasks that it is a part of and those that were delegated from it, each after its
        parent."""
        return await self._services.tasks.tree(self.id)

    async def file(self, part: FilePart) -> bytes:
        """Return the content of a file of the result."""
        return await self._services.attachments.content(parse_file(part))

    def __repr__(self) -> str:
        return f"<Delegated {self.id} to {self.record.agent}: {self.state}>"


class ResultOptions(TypedDict, total=False):
    """Parts of an update besides its text."""

    data: Json
    """A data part beside the text."""
    files: list[FilePart]
    """Snapshots made by `attach`."""


class Assignment:
    """One task that one session has taken with `me.take`. Every move notifies the delegator."""

    def __init__(self, held: HeldTask) -> None:
        self._held = held

    @property
    def id(self) -> MessageId:
        return self._held.id

    @property
    def record(self) -> Task:
        return self._held.record

    @property
    def state(self) -> TaskState:
        return self._held.state

    @property
    def message(self) -> Message:
        return self._held.message

    @property
    def text(self) -> str:
        """The task in the words of its delegator."""
        return self._held.text

    @property
    def delegator(self) -> AgentName:
        return self._held.delegator

    @property
    def attempt(self) -> int:
        """1, or more if earlier sessions ended in the middle of the task."""
        return self._held.attempt

    @property
    def files(self) -> tuple[FilePart, ...]:
        return self._held.files

    async def file(self, part: FilePart) -> bytes:
        """Return the content of one of the task's file parts."""
        return await self._held.file(parse_file(part))

    async def start(self) -> None:
        """Report that the work has begun."""
        await self._held.start()

    async def progress(self, text: str, **more: Unpack[ResultOptions]) -> None:
        """Report progress."""
        await self._held.progress(_parts(text, more))

    async def complete(self, text: str, **more: Unpack[ResultOptions]) -> None:
        """Hand in the result."""
        await self._held.complete(_parts(text, more))

    async def fail(self, reason: str, *, text: str | None = None, **more: Unpack[ResultOptions]) -> None:
        """Report that the task can't be done, or has failed. `text` may say more than the reason."""
        await self._held.fail(note(reason, "reason"), _parts(reason if text is None else text, more))

    async def let_go(self) -> None:
        """Release the task for another session of the agent."""
        await self._held.let_go()

    async def delegate(self, to: str, text: str, **options: Unpack[MessageOptions]) -> Delegated:
        """Delegate a part of the task. The new task spends a hop, and its result belongs to the same conversation."""
        if "relaying" in options:
            raise Invalid("option", "relaying", "a part of a task always relays the task")
        options["relaying"] = self.id
        return await delegate(self._held.services, self._held.actor, to, text, options)

    def __repr__(self) -> str:
        return f"<Assignment {self.id} from {self.delegator}: {self.state}>"


Judgement = Callable[[Assignment], Awaitable[bool | str]]
"""An agent's own decision on a task: True to accept it, False or a reason to reject it."""


def judge_by(judgement: Judgement | None, services: Services, actor: Identity) -> Judge | None:
    """Wrap a judgement in the form that the services take."""
    if judgement is None:
        return None
    function(judgement, "judgement")

    async def judge(view: TaskView) -> str | None:
        answer = await judgement(Assignment(HeldTask(view, services, actor)))
        return None if answer is True else answer or "the agent does not want to do it"

    return judge


async def delegate(services: Services, actor: Identity, to: str, text: str, options: MessageOptions) -> Delegated:
    """Delegate a task to an agent."""
    draft = draft_from(Kind.TASK, to, text, options, services.clock)
    return Delegated(await services.tasks.delegate(draft, actor, policy_from(options)), services, actor)


def _parts(text: str, more: ResultOptions) -> tuple[Part, ...]:
    check_known(more, ResultOptions.__annotations__)
    parts: list[Part] = [TextPart(parse_text(text, "text"))]
    if "data" in more:
        parts.append(DataPart(plain(more["data"], "data")))
    return (*parts, *parse_files(more.get("files", [])))


class WorkerEvent(NamedTuple):
    moment: Moment
    assignment: Assignment | None
    """The task of the event; None for a problem with the store."""
    text: str = ""


Tell = Callable[[WorkerEvent], None]


def worker_event(event: TaskEvent) -> WorkerEvent:
    """Convert an event of a worker."""
    return WorkerEvent(event.moment, None if event.task is None else Assignment(event.task), event.text)


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
    drain: float | None
    """The seconds that running tasks may still take after the worker is told to stop; None sets no limit."""
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

    def happened(event: TaskEvent) -> None:
        if tell is not None:
            tell(worker_event(event))

    return Worker(services, actor, finisher, handle, terms, happened)
