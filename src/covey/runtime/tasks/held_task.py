"""A held task: one task that a session has claimed, the session's moves, and the result that it hands in."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from covey.core.checks import MAX_NOTE_CHARS, note, plain
from covey.core.checks import files as check_files
from covey.core.checks import text as check_text
from covey.core.errors import CoveyError, Invalid
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.message import DataPart, FilePart, Message, Part, TextPart
from covey.core.names import AgentName, MessageId
from covey.core.work.task import Task, TaskState
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView


class HeldTask:
    """A task as of the session's last move. Every move notifies the delegator."""

    def __init__(self, view: TaskView, services: Services, actor: Identity) -> None:
        self._view = view
        self.services = services
        self.actor = actor

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
    def message(self) -> Message:
        return self._view.message

    @property
    def text(self) -> str:
        """The task in the words of its delegator."""
        return self._view.message.text

    @property
    def delegator(self) -> AgentName:
        return self._view.task.delegator

    @property
    def attempt(self) -> int:
        """1, or more if earlier sessions ended in the middle of the task."""
        return self._view.task.attempt

    @property
    def files(self) -> tuple[FilePart, ...]:
        return tuple(part for part in self.message.parts if isinstance(part, FilePart))

    async def file(self, part: FilePart) -> bytes:
        """Return the content of one of the task's file parts."""
        return await self.services.attachments.content(part)

    async def start(self) -> None:
        """Report that the work has begun."""
        self._now(await self.services.duties.start(self.id, self.actor, self.attempt))

    async def progress(self, parts: Sequence[Part]) -> None:
        """Report progress."""
        self._now(await self.services.duties.progress(self.id, self.actor, tuple(parts), self.attempt))

    async def complete(self, parts: Sequence[Part]) -> None:
        """Hand in the result."""
        self._now(await self.services.duties.complete(self.id, self.actor, tuple(parts), self.attempt))

    async def fail(self, reason: str, parts: Sequence[Part]) -> None:
        """Fail the task with a reason."""
        self._now(await self.services.duties.fail(self.id, self.actor, reason, tuple(parts), self.attempt))

    async def let_go(self) -> None:
        """Release the task for another session of the agent."""
        self._now(await self.services.duties.let_go(self.id, self.actor, self.attempt))

    def _now(self, task: Task) -> None:
        self._view = self._view._replace(task=task)


DONE = "Done."
"""The text of a result that has no text, data or files."""


class Result(NamedTuple):
    """The result of a completed task. Always true, also without a text."""

    text: str = ""
    data: Json = None
    files: tuple[FilePart, ...] = ()
    """Snapshots made by `attach`."""


class Failure(NamedTuple):
    """The outcome of a task that can't be done, or went wrong. Always false."""

    reason: str
    """The reason, in one sentence."""
    text: str = ""
    """The full text for the delegator; by default the reason."""
    data: Json = None
    files: tuple[FilePart, ...] = ()

    def __bool__(self) -> bool:
        """False: the task was not done."""
        return False


Answer = Result | Failure | str | Mapping[str, Json] | None
"""The allowed return values of a handler. None means that the task is done, or that the handler has handed in its
result itself."""


def outcome_of(answer: object) -> Result | Failure:
    """Convert a handler's return value into an outcome."""
    if isinstance(answer, Result | Failure):
        return answer
    if answer is None or isinstance(answer, str):
        return Result(answer or "")
    if isinstance(answer, Mapping):
        return Result(data=cast(Json, dict(cast(Mapping[str, Json], answer))))
    raise Invalid("result", repr(type(answer)), "a handler returns a text, a dict, a Result, a Failure or None")


def failure_of(error: Exception) -> Failure:
    """Convert an error into a failure with its type and message, without a traceback."""
    words = error.message if isinstance(error, CoveyError) else str(error)
    kind = "" if isinstance(error, CoveyError) else type(error).__name__
    told = ": ".join(word for word in (kind, words) if word)
    return Failure(told.encode(errors="replace").decode()[:MAX_NOTE_CHARS])


def parts_of(text: object, data: object, files: object) -> tuple[Part, ...]:
    """Return the parts of an update to the delegator. Without data there is no data part."""
    parts: list[Part] = [TextPart(check_text(text, "text"))]
    if data is not None:
        parts.append(DataPart(plain(data, "data")))
    return (*parts, *check_files(files))


async def hand_in(held: HeldTask, outcome: Result | Failure) -> None:
    """Complete the task, or fail it."""
    if isinstance(outcome, Result):
        has_more = outcome.data is not None or outcome.files
        text = outcome.text or ("" if has_more else DONE)
        await held.complete(parts_of(text, outcome.data, outcome.files))
    else:
        parts = parts_of(outcome.text or outcome.reason, outcome.data, outcome.files)
        await held.fail(note(outcome.reason, "reason"), parts)
