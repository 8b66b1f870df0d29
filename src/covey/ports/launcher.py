"""Running programs: each with everything that it starts, within limits, and with an end that is told once and kept.

    launcher = composition.launcher()
    running = await launcher.start(Program(argv=("make", "test"), cwd=cwd, env=env, folder=folder, run=run_id))
    async for line in running.lines():
        ...                               # progress, as it comes
    ended = await running.wait()          # ended.is_success, ended.exit_code, ended.stdout.text
    await launcher.close()                # whatever still runs is killed

After a restart, for each run of a process that is gone:

    await launcher.sweep(run_id, folder)  # nothing of the run is left from here on
    ended = launcher.recall(folder)       # how it ended; None where nothing is recorded: it never ran, or nobody saw

The folder is the run's own, made where it is missing, and belongs to one run only. Starting in a folder where a program
runs or has run is refused, so that a run that is repeated by mistake does not happen twice. It may be removed when the
run has ended.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, Protocol

RUN_VARIABLE: Final = "COVEY_RUN"
"""Has the run's id in the environment of the program and of what it starts."""

OUTPUT_LIMIT: Final = 1024 * 1024
"""How many bytes are kept of each of stdout and stderr, unless the program says otherwise."""

LINE_LIMIT: Final = 8192
"""How many bytes of output are one line at most; a longer one comes as several."""

GRACE_S: Final = 5.0
"""How long a program that is told to terminate has before it is killed, unless the program says otherwise."""

Stream = Literal["stdout", "stderr"]


class Program(NamedTuple):
    """What to run, and within which limits."""

    argv: tuple[str, ...]
    """The command and its arguments. A command without a slash is looked for in the PATH of `env`, one with a slash
    from `cwd`. No shell is involved."""
    cwd: str
    """The folder it starts in."""
    env: Mapping[str, str]
    """Its whole environment: nothing of ours is added but COVEY_RUN."""
    folder: str
    """The run's own folder: what it printed and how it ended are kept there."""
    run: str
    """An opaque id of the run, never used twice. It marks the processes of the run."""
    stdin: bytes | None = None
    """What it can read on its standard input; None: nothing."""
    output_limit: int = OUTPUT_LIMIT
    """How many bytes are kept of each of stdout and stderr, half of them from the beginning and half from the end. The
    rest is counted and dropped; a program is never held up because it prints too much."""
    time_limit: float | None = None
    """After how many seconds it is told to terminate."""
    grace: float = GRACE_S
    """How many seconds it then has, and has when it is stopped, before it is killed."""


class Line(NamedTuple):
    """A line that a program printed, without its end. Bytes that are not UTF-8 are replaced."""

    stream: Stream
    text: str


class Kept(NamedTuple):
    """What is kept of an output. Where all of it is, `head` and `tail` together are the whole."""

    head: bytes
    tail: bytes
    total: int
    """How many bytes there were."""

    @property
    def left_out(self) -> int:
        """How many bytes between head and tail were dropped."""
        return max(0, self.total - len(self.head) - len(self.tail))

    @property
    def text(self) -> str:
        """The output for people and models. Bytes that are not UTF-8 are replaced, and a line says what is left out."""
        if not self.left_out:
            return (self.head + self.tail).decode("utf-8", "replace")
        head, tail = self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")
        return f"{head}\n[... {self.left_out} bytes left out ...]\n{tail}"


class Ending(StrEnum):
    """Why a run is over."""

    EXITED = "exited"
    """The program ended by itself, or by a signal that did not come from here."""
    STOPPED = "stopped"
    """It was stopped. It may still have ended in order: look at the exit code."""
    TIMED_OUT = "timed-out"
    """It took longer than its time limit."""
    ABANDONED = "abandoned"
    """Who had started it died or closed its launcher, or the run was swept; so it was killed."""
    LOST = "lost"
    """What watched over it was killed, and it was killed with it: how far it had come is not known."""


class Ended(NamedTuple):
    """How a run ended. All processes of the run are gone."""

    ending: Ending
    exit_code: int | None
    """The code it exited with; None where a signal ended it, or where it is not known."""
    signal: int | None
    """The signal that ended it."""
    why: str
    """What `stop` was told; empty where nobody stopped it."""
    stdout: Kept
    stderr: Kept
    started_at: datetime
    ended_at: datetime
    survivors: tuple[int, ...] = ()
    """Processes that could not be killed: they run as another user, or hang in the kernel. Nearly always none."""

    @property
    def is_success(self) -> bool:
        """Whether it ended by itself with the exit code 0."""
        return self.ending is Ending.EXITED and self.exit_code == 0


class Running(Protocol):
    """A program that was started. It runs on whether or not anybody reads its lines or waits for it."""

    @property
    def pid(self) -> int:
        """The program's process id, which is also its process group and session."""
        ...

    def lines(self) -> AsyncIterator[Line]:
        """Go through the lines of stdout and stderr as they come, until the run has ended. For showing progress: who
        reads slowly misses the oldest of what waits, and a flood leaves gaps. `wait` has what is kept of the whole.
        There is one reader; a line is read once."""
        ...

    async def stop(self, why: str = "") -> "Ended":
        """Tell the program and everything that it started to terminate, kill after the grace what is still there, and
        return how it ended. Several stops are one; a run that has ended stays as it ended. Bounded by the grace and
        some seconds. Being cancelled does not take the stop back."""
        ...

    async def wait(self) -> Ended:
        """Return how the run ended, once it has: the program is gone, what it started is gone, and the outcome is
        recorded in the folder. Any number may wait, also afterwards; being cancelled leaves the program running."""
        ...


class Launcher(Protocol):
    """Starts programs and ends them with all that they start, whatever dies first.

    A program runs in a session of its own: signals of our terminal don't reach it. When it ends, what it has started
    and left running is killed. When the process that started it dies, by SIGKILL too, the program and all its
    descendants are killed at once. No process, zombie, descriptor or thread is left behind.

    On Linux that holds for every descendant, daemons too. Elsewhere it holds for the program's process group: one that
    leaves its group escapes.

    Bound to the event loop that it is first used on. Any method but `recall` may raise LauncherUnavailable.
    """

    async def start(self, program: Program) -> Running:
        """Start a program; it runs when this returns. ProgramNotFound where there is no such command,
        ProgramNotExecutable where it can't be run, Invalid where a value is wrong (no such `cwd`, a folder that was
        used before, a zero byte in an argument): then nothing has run, and the folder is as it was. Being cancelled
        leaves nothing running."""
        ...

    def recall(self, folder: str) -> Ended | None:
        """Return how the run that has this folder ended, whoever started it; None where that is not recorded there, as
        while it runs. Recorded means that it outlasts a crash of the machine."""
        ...

    async def sweep(self, run: str, folder: str) -> int:
        """Kill what is left of a run, whoever started it, and return how many processes that were, as far as they can
        be seen; when this returns none is left, and nothing can be started in the folder any more. For the runs of a
        process that has died: it waits for those that are just being cleaned up."""
        ...

    async def close(self) -> None:
        """Kill what still runs (`wait` then returns ABANDONED) and let go of everything."""
        ...
