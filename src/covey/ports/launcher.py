"""The launcher of programs: it runs each with its descendants, within limits, and records how it ended.

    launcher = composition.launcher()
    running = await launcher.start(Program(argv=("make", "test"), cwd=cwd, env=env, folder=folder, run=run_id))
    async for line in running.lines():
        ...                               # progress, as it comes
    ended = await running.wait()          # ended.is_success, ended.exit_code, ended.stdout.text
    await launcher.close()                # kills all programs that still run

After a restart, for each run of a process that is gone:

    await launcher.sweep(run_id, folder)  # nothing of the run is left from here on
    ended = launcher.recall(folder)       # its end; None if nothing is recorded: it never ran, or its end was not seen

The folder belongs to one run only, and is created if it is missing. Starting in a folder in which a program runs or has
run is refused, so that a run that is repeated by mistake does not happen twice. The folder may be removed when the run
has ended.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, Protocol

RUN_VARIABLE: Final = "COVEY_RUN"
"""The environment variable with the run's id, for the program and its descendants."""

OUTPUT_LIMIT: Final = 1024 * 1024
"""The default number of bytes that are kept of each of stdout and stderr."""

LINE_LIMIT: Final = 8192
"""The largest number of bytes in a line of output; a longer one is split."""

GRACE_S: Final = 5.0
"""The default time in seconds between the signals to terminate and to kill a program."""

Stream = Literal["stdout", "stderr"]


class Program(NamedTuple):
    """A program to run, with its limits."""

    argv: tuple[str, ...]
    """The command and its arguments. A command without a slash is looked for in the PATH of `env`, one with a slash
    from `cwd`. No shell is involved."""
    cwd: str
    """The working directory."""
    env: Mapping[str, str]
    """The whole environment: only COVEY_RUN is added."""
    folder: str
    """The run's own folder, in which its output and its end are recorded."""
    run: str
    """An opaque id of the run, never used twice. It marks the processes of the run."""
    stdin: bytes | None = None
    """The content of the standard input; None for an empty one."""
    output_limit: int = OUTPUT_LIMIT
    """The number of bytes that are kept of each of stdout and stderr, half of them from the beginning and half from the
    end. The rest is counted and dropped; a program that prints too much is never blocked."""
    time_limit: float | None = None
    """The time in seconds after which the program is told to terminate."""
    grace: float = GRACE_S
    """The time in seconds after that, or after a stop, until the program is killed."""


class OutputLine(NamedTuple):
    """A line of a program's output, without its newline. Bytes that are not UTF-8 are replaced."""

    stream: Stream
    text: str


class KeptOutput(NamedTuple):
    """The kept part of an output. If nothing was dropped, `head` and `tail` together are the whole."""

    head: bytes
    tail: bytes
    total: int
    """The number of bytes that the program printed."""

    @property
    def left_out(self) -> int:
        """The number of bytes between head and tail that were dropped."""
        return max(0, self.total - len(self.head) - len(self.tail))

    @property
    def text(self) -> str:
        """The output for people and models. Bytes that are not UTF-8 are replaced, and a line notes the dropped
        bytes."""
        if not self.left_out:
            return (self.head + self.tail).decode("utf-8", "replace")
        head, tail = self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")
        return f"{head}\n[... {self.left_out} bytes left out ...]\n{tail}"


class EndReason(StrEnum):
    """The reason of the end of a run."""

    EXITED = "exited"
    """The program ended by itself, or by a signal from elsewhere."""
    STOPPED = "stopped"
    """The program was stopped. It may still have ended in order: see the exit code."""
    TIMED_OUT = "timed-out"
    """The program exceeded its time limit."""
    ABANDONED = "abandoned"
    """The program was killed, because the process that started it died or closed its launcher, or the run was swept."""
    LOST = "lost"
    """The supervisor of the program was killed, and the program with it. How far it had come is not known."""


class ProgramEnd(NamedTuple):
    """The end of a run. All processes of the run are gone."""

    ending: EndReason
    exit_code: int | None
    """The exit code; None if a signal ended the program, or if the code is not known."""
    signal: int | None
    """The signal that ended the program, or None."""
    why: str
    """The argument of `stop`; empty if the program was not stopped."""
    stdout: KeptOutput
    stderr: KeptOutput
    started_at: datetime
    ended_at: datetime
    survivors: tuple[int, ...] = ()
    """Processes that could not be killed: they run as another user, or hang in the kernel. Nearly always none."""

    @property
    def is_success(self) -> bool:
        """True if the program ended by itself with the exit code 0."""
        return self.ending is EndReason.EXITED and self.exit_code == 0


class StartedProgram(Protocol):
    """A program that was started. It runs on even if its lines are not read and its end is not awaited."""

    @property
    def pid(self) -> int:
        """The program's process id, which is also its process group and session."""
        ...

    def lines(self) -> AsyncIterator[OutputLine]:
        """Yield the lines of stdout and stderr as they come, until the run has ended. This is for showing progress: a
        slow reader misses the oldest waiting lines, and a flood of output leaves gaps. The result of `wait` has the
        kept output. There is one reader; each line is read once."""
        ...

    async def stop(self, why: str = "") -> "ProgramEnd":
        """Tell the program and its descendants to terminate, kill those that are left after the grace, and return the
        end of the run. Further stops have no effect, and the end of a run that has ended does not change. The call
        takes at most the grace and some seconds. Cancelling it does not undo the stop."""
        ...

    async def wait(self) -> ProgramEnd:
        """Wait for the end of the run and return it: the program and its descendants are gone, and the outcome is
        recorded in the folder. Several tasks may wait, also afterwards. Cancelling a wait leaves the program
        running."""
        ...


class Launcher(Protocol):
    """A launcher that starts programs, and ends them with all their descendants.

    A program runs in a session of its own: signals of the launcher's terminal don't reach it. When the program ends,
    its remaining descendants are killed. When the process that started it dies, by SIGKILL too, the program and all its
    descendants are killed at once. No process, zombie, descriptor or thread is left behind.

    On Linux this holds for every descendant, daemons too. Elsewhere it holds for the program's process group: a process
    that leaves the group escapes.

    A launcher is bound to the event loop of its first use. Any method but `recall` may raise LauncherUnavailable.
    """

    async def start(self, program: Program) -> StartedProgram:
        """Start a program; it runs when this returns. Raise ProgramNotFound if there is no such command,
        ProgramNotExecutable if it can't be run, and Invalid if a value is wrong (no such `cwd`, a folder that was used
        before, a zero byte in an argument). After an error nothing has run, and the folder is unchanged. Cancelling the
        call leaves nothing running."""
        ...

    def recall(self, folder: str) -> ProgramEnd | None:
        """Return the recorded end of the run with this folder, whichever process started it; None if no end is
        recorded, for example while it runs. A recorded end survives a crash of the machine."""
        ...

    async def sweep(self, run: str, folder: str) -> int:
        """Kill the remaining processes of a run, whichever process started it, and return their number, as far as they
        are visible. When this returns, none is left, and nothing can be started in the folder any more. Call this for
        the runs of a process that has died: it waits for a cleanup that is under way."""
        ...

    async def close(self) -> None:
        """Kill all running programs (`wait` then returns ABANDONED), and release all resources."""
        ...
