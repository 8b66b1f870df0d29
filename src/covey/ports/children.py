"""The launching of children: their folders, programs and supervision. Only a process with an event loop provides it.

    child = Child(run, secret, "Review the parser.", command=("claude", "-p", "{prompt}"), cwd="/src")
    await launching.furnish(child)  # its folder, with its attachments
    await launching.launch(Errand(child, request, prompt))  # its program runs
    await launching.watch(child)  # until the run has ended; records the end and cleans up

`Launcher` runs any program; this port knows runs, prompts and results. Services require it for a spawn. A program
without it, such as a short command, can read runs and request their stop, but can't spawn.
"""

from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from covey.core.json import Json
from covey.core.ledger.message import FilePart, Message
from covey.core.names import OfferId
from covey.core.work.run import Run, RunId, RunState


class ChildEvent(StrEnum):
    SPAWNED = "spawned"
    """A child was started."""
    ENDED = "ended"
    """The child completed its task, or was stopped."""
    FAILED = "failed"
    """The child could not be started, failed, timed out, or is lost."""


class Plugins(Protocol):
    """The plugins of this process. A plugin can't delay or break its caller."""

    @property
    def are_there(self) -> bool:
        """True if there is at least one plugin."""
        ...

    async def tell(self, moment: ChildEvent, run: Run) -> None:
        """Notify each plugin. An exception of a plugin is logged. A plugin that takes longer than a few seconds is not
        waited for. This never raises."""
        ...


class ChildResult(NamedTuple):
    """The result of a child or of one of its answers: the final state, and the output up to then."""

    state: RunState
    """A final state: completed, failed, timed out, stopped or lost."""
    text: str = ""
    data: Json = None
    files: tuple[FilePart, ...] = ()
    reason: str = ""
    """The reason of a failure, in a sentence."""


class ChildWork(NamedTuple):
    """A piece of work for a child: its task, or, in session mode, a later message."""

    child: "Child"
    message: Message
    prompt: str
    """The whole prompt."""
    number: int = 1
    """The number of the errand among those of its child."""
    offer: OfferId | None = None
    """The offer that shows a later message to the child; None for the task."""


class ChildTaskGroup(Protocol):
    """A task group that runs a callable, such as an asyncio.TaskGroup."""

    def create_task(self, coro: Coroutine[Any, Any, None], /) -> object: ...


class PythonChild(NamedTuple):
    """A child that is an async callable of this process."""

    call: Callable[[ChildWork, Callable[[str], None]], Awaitable[ChildResult]]
    """The callable that does an errand. Text that it passes to its second argument counts as output, even if the
    callable does not finish. It may be cancelled."""
    group: ChildTaskGroup | None = None
    """The task group in which the callable runs; None for the one of the supervisor."""


class Child(NamedTuple):
    """Everything that is needed to start a child."""

    run: Run
    secret: str
    """The secret of the child's session. Only the program's environment contains it."""
    task: str
    """The task, in the parent's words."""
    files: tuple[FilePart, ...] = ()
    """Snapshots of the attachments."""
    command: tuple[str, ...] = ()
    """The words of the command, with placeholders."""
    python: PythonChild | None = None
    cwd: str | None = None
    """The working directory of the program; None for the child's own folder."""


class Launching(Protocol):
    """Children of this process. When the process dies, by SIGKILL too, their programs die with it.

    Any method but `place` may raise LauncherUnavailable.
    """

    @property
    def plugins(self) -> Plugins:
        """The plugins that are notified of children."""
        ...

    def place(self, run_id: RunId) -> str:
        """Return the path for the folder of a run. Nothing is created yet."""
        ...

    async def furnish(self, child: Child) -> None:
        """Create the child's folder with its attachments. Raise Invalid if it can't be created, or if the child could
        not start in its working directory."""
        ...

    async def launch(self, errand: ChildWork) -> None:
        """Start the child's program with its first prompt. Raise ProgramNotFound, ProgramNotExecutable or Invalid if it
        can't be started: then nothing runs."""
        ...

    async def abort(self, run: Run, why: str) -> None:
        """Stop the program of a child that is not watched yet. No process of the child runs when this returns."""
        ...

    async def clear(self, run: Run) -> bool:
        """Kill the remaining processes of a run that has ended, whichever process started it, and remove its folder.
        Tell whether the folder is gone: a folder on another machine is not removed. Clearing twice is harmless."""
        ...

    async def watch(self, child: Child) -> None:
        """Supervise a launched child until its run has ended: send its result, pass on later messages in session mode,
        carry out a requested stop, and clean up. This returns at once."""
        ...
