"""Assignments: tasks that this program has taken, with their content and their moves."""

from collections.abc import Awaitable, Callable
from typing import TypedDict, Unpack

from covey.core.checks import check_known, function, note
from covey.core.checks import file as parse_file
from covey.core.checks import files as parse_files
from covey.core.checks import text as parse_text
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.ledger.message import DataPart, FilePart, Kind, Message, Part, TextPart
from covey.core.names import AgentName
from covey.core.plain import plain
from covey.core.work.task import Task, TaskState
from covey.runtime.tasks.held import HeldTask
from covey.services.space import Services
from covey.services.tasks.duties import Judge
from covey.services.tasks.tasks import TaskView
from covey.surfaces.python.delegated import Delegated
from covey.surfaces.python.options import MessageOptions, draft_from, policy_from


class ResultOptions(TypedDict, total=False):
    """Parts of an update besides its text."""

    data: Json
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
