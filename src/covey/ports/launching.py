"""Launching children: their folders, their programs, and who watches over them. A process with an event loop has it.

    child = Child(run, secret, "Review the parser.", command=("claude", "-p", "{prompt}"), cwd="/src")
    await launching.furnish(child)  # its folder, with its attachments
    await launching.launch(Errand(child, request, prompt))  # its program runs
    await launching.watch(child)  # until the run has ended, which it writes down and clears up after

It differs from `Launcher`, which runs any program: this knows of runs, prompts and results. Services ask for it; what
has none (a short command, say) can look at runs and ask for their end, and not spawn.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, Protocol

from covey.core.ids import OfferId
from covey.core.json import Json
from covey.core.message import Message
from covey.core.parts import FilePart
from covey.core.run import Run, RunId, RunState
from covey.ports.plugins import Plugins


class Product(NamedTuple):
    """What came of a child, or of one of its answers: how it ended, and what was made until then."""

    state: RunState
    """An end: completed, failed, timed out, stopped or lost."""
    text: str = ""
    data: Json = None
    files: tuple[FilePart, ...] = ()
    reason: str = ""
    """Why it is no success, in a sentence."""


class Errand(NamedTuple):
    """What a child is to do now: its task, or, in session mode, what came later."""

    child: "Child"
    message: Message
    prompt: str
    """All that it is told."""
    number: int = 1
    """Which of its errands it is."""
    offer: OfferId | None = None
    """What shows it to the child, where it came later."""


class Group(Protocol):
    """What runs a callable beside others: an asyncio.TaskGroup."""

    def create_task(self, coro: Coroutine[Any, Any, None], /) -> object: ...


class PythonChild(NamedTuple):
    """A child that is an async callable of this process."""

    call: Callable[[Errand, Callable[[str], None]], Awaitable[Product]]
    """Does an errand. What it reports with its second argument counts as produced, also where it does not come to an
    end. It may be cancelled."""
    group: Group | None = None
    """Where it runs; None: with whatever else the launching watches over."""


class Child(NamedTuple):
    """All that it takes to start a child."""

    run: Run
    secret: str
    """What proves the child's session. It stands nowhere but in the program's environment."""
    task: str
    """What it is to do, in its parent's words."""
    files: tuple[FilePart, ...] = ()
    """Snapshots of its attachments."""
    command: tuple[str, ...] = ()
    """The words of the command, with placeholders."""
    python: PythonChild | None = None
    cwd: str | None = None
    """Where its program starts; None: in its own folder."""


class Launching(Protocol):
    """Children of this process. When it dies, by SIGKILL too, their programs die with it.

    Any method but `place` may raise LauncherUnavailable.
    """

    @property
    def plugins(self) -> Plugins:
        """Who is told of its children."""
        ...

    def place(self, run_id: RunId) -> str:
        """Return where the folder of a run is to be. Nothing is made there yet."""
        ...

    async def furnish(self, child: Child) -> None:
        """Make the child's folder, with its attachments. Invalid where it can't be made, or where the child could not
        start in its directory."""
        ...

    async def launch(self, errand: Errand) -> None:
        """Start the child's program with its first prompt. ProgramNotFound, ProgramNotExecutable or Invalid where it
        can't be started: then nothing runs."""
        ...

    async def abort(self, run: Run, why: str) -> None:
        """Stop the program of a child that nobody watches over yet. Nothing of it runs when this returns."""
        ...

    async def clear(self, run: Run) -> bool:
        """Kill what is left of a run that is over, whoever started it, and remove its folder. Tell whether it is gone:
        what is on another machine is not ours to remove. Clearing twice is harmless."""
        ...

    async def watch(self, child: Child) -> None:
        """Watch over a child that was launched, until its run has ended: hand in its result, give it what comes later
        where it is a session, stop it when somebody wants it to, clear up after it. This returns at once."""
        ...
