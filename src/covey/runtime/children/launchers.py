"""The launchers of children: `python`, an async callable in a task group that the caller owns, and `command`, any
program, from the command on its agent's card.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

from covey.core.errors import CoveyError, Invalid, LauncherUnavailable
from covey.core.work.run import Run, RunState
from covey.ports.children import ChildResult, ChildTaskGroup, ChildWork, PythonChild
from covey.ports.launcher import EndReason, Launcher, OutputLine, Program, ProgramEnd, StartedProgram
from covey.runtime.programs.command import LONGEST_WORD
from covey.runtime.programs.folders import RunFolder, RunFolders, mark, program_folder, write_private
from covey.runtime.programs.outcomes import outcome_of
from covey.runtime.programs.output import read_printed
from covey.runtime.tasks.held_task import Failure, Result
from covey.services.mail.attachments import Attachments

GRACE_S: Final = 5.0
"""Time limit of a cancelled callable to end."""

CANCELLED: Final = "it was cancelled"

Start = Callable[[Coroutine[Any, Any, None]], object]


class RunningCallable:
    """A callable that does an errand of a child. Its reports are kept, however it ends."""

    def __init__(self, python: PythonChild, errand: ChildWork) -> None:
        self._python = python
        self._errand = errand
        self._reported: list[str] = []
        self._why: str | None = None
        self._task: asyncio.Task[Any] | None = None
        self._product: asyncio.Future[ChildResult] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Run the callable to its end. Raises only CancelledError, after a cancellation that did not come from
        `stop`."""
        self._task = asyncio.current_task()
        product = ChildResult(RunState.STOPPED, reason=self._why or CANCELLED)
        try:
            if self._why is None:
                product = await self._call()
        except asyncio.CancelledError:
            product = self._broken_off(RunState.STOPPED, self._why or CANCELLED)
            if self._why is None:
                raise
        finally:
            if not self._product.done():
                self._product.set_result(product)

    async def _call(self) -> ChildResult:
        limit = self._errand.child.run.time_limit
        clock = asyncio.timeout(limit)
        try:
            async with clock:
                return await self._python.call(self._errand, self._reported.append)
        except Exception as error:  # noqa: BLE001 - any error of a child is its outcome
            if clock.expired():
                return self._broken_off(RunState.TIMED_OUT, f"it took longer than its time limit of {limit:g} s")
            words = error.message if isinstance(error, CoveyError) else f"{type(error).__name__}: {error}"
            return self._broken_off(RunState.FAILED, words)

    def over(self, _task: object) -> None:
        """Record the end of the task, even if it was cancelled before its first step."""
        if not self._product.done():
            self._product.set_result(ChildResult(RunState.STOPPED, reason=self._why or CANCELLED))

    async def wait(self) -> ChildResult:
        """Return the product. A cancellation leaves the callable running."""
        return await asyncio.shield(self._product)

    async def stop(self, why: str) -> ChildResult:
        """Cancel the callable. If it ignores the cancellation, it is left alone after `GRACE_S`."""
        self._why = why
        if self._task is not None:
            self._task.cancel()
        try:
            async with asyncio.timeout(GRACE_S):
                return await self.wait()
        except TimeoutError:
            return self._broken_off(RunState.STOPPED, why)

    def _broken_off(self, state: RunState, reason: str) -> ChildResult:
        reported = "\n".join(self._reported)
        text = f"{reason}.\n\nIts reports until then:\n{reported}" if reported else reason
        return ChildResult(state, text, reason=reason)


def start_callable(python: PythonChild, errand: ChildWork, start: Start) -> RunningCallable:
    """Start a callable as a concurrent task."""
    running = RunningCallable(python, errand)
    task = start_in(python.group, running.run(), start)
    if isinstance(task, asyncio.Task):
        cast("asyncio.Task[object]", task).add_done_callback(running.over)
    return running


def start_in(group: ChildTaskGroup | None, work: Coroutine[Any, Any, None], start: Start) -> object:
    """Start work in the given group, or with `start` if there is none."""
    try:
        return (start if group is None else group.create_task)(work)
    except RuntimeError as error:  # the group has ended, or was never entered
        work.close()
        raise LauncherUnavailable(str(error)) from None


PLACEHOLDERS: Final = ("prompt", "task", "folder", "label", "agent", "run")
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")


def takes_prompt(words: Sequence[str]) -> bool:
    """Tell whether a command gets its prompt as an argument; otherwise the prompt is on stdin."""
    return any("{prompt}" in word or "{task}" in word for word in words)


def filled(words: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words with their placeholders filled in: each word stays one argument, whatever its value contains."""
    if _PLACEHOLDER.search(words[0]):
        raise Invalid("command", words[0], "the program itself can't be a placeholder for the task")
    found = tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in words)
    if max(len(os.fsencode(word)) for word in found) > LONGEST_WORD:
        rule = f"an argument has at most {LONGEST_WORD:,} bytes; a command without {{prompt}} and {{task}} reads stdin"
        raise Invalid("prompt", f"{len(values['prompt']):,} characters", rule)
    return found


_STATES: Final = {
    EndReason.TIMED_OUT: RunState.TIMED_OUT,
    EndReason.STOPPED: RunState.STOPPED,
    EndReason.ABANDONED: RunState.STOPPED,
    EndReason.LOST: RunState.LOST,
}


async def product_of(
    name: str, ended: ProgramEnd, folder: RunFolder, attachments: Attachments, limit: float | None
) -> ChildResult:
    """Return the product of a program, even of an incomplete run. The rules are those of `covey work`."""
    seconds = None if limit is None else timedelta(seconds=limit)
    outcome = await outcome_of(name, ended, folder, attachments, seconds)
    if isinstance(outcome, Result):
        return ChildResult(RunState.COMPLETED, outcome.text, outcome.data, outcome.files)
    state = _STATES.get(ended.ending, RunState.FAILED)
    reason = ended.why or outcome.reason if state is RunState.STOPPED else outcome.reason
    return ChildResult(state, _text(ended, outcome), outcome.data, outcome.files, reason)


def _text(ended: ProgramEnd, failure: Failure) -> str:
    """Return the text for the parent. A run that was interrupted may have printed a good part of its result."""
    printed = read_printed(ended.stdout) if ended.ending is not EndReason.EXITED else None
    if printed is None or not printed.text:
        return failure.text or failure.reason
    return f"{failure.reason.partition(': ')[0]}.\n\nIts output until then:\n{printed.text}"


OURS: Final = frozenset({"COVEY_TOKEN", "COVEY_TASK", "COVEY_ATTEMPT", "COVEY_LABEL", "COVEY_PARENT"})
"""Environment variables of the parent that a child does not inherit."""


class RunningProgram:
    """A program that does an errand of a child."""

    def __init__(self, running: StartedProgram, errand: ChildWork, folder: RunFolder, attachments: Attachments) -> None:
        self._running = running
        self._errand = errand
        self._folder = folder
        self._attachments = attachments

    def lines(self) -> AsyncIterator[OutputLine]:
        """Iterate over the output lines as they arrive."""
        return self._running.lines()

    async def wait(self) -> ChildResult:
        """Return the product. A cancellation leaves the program running."""
        child = self._errand.child
        ended = await self._running.wait()
        return await product_of(
            Path(child.command[0]).name, ended, self._folder, self._attachments, child.run.time_limit
        )

    async def stop(self, why: str) -> ChildResult:
        """Terminate the program, and kill it after its grace period."""
        await self._running.stop(why)
        return await self.wait()


async def start_program(
    errand: ChildWork, folders: RunFolders, launcher: Launcher, store: str, attachments: Attachments
) -> RunningProgram:
    """Start the program of a child in its folder, with its prompt."""
    child, run = errand.child, errand.child.run
    folder = folders.of(run.id)
    values = {
        "prompt": errand.prompt,
        "task": child.task if errand.number == 1 else errand.message.text,
        "folder": str(folder.path),
        "label": run.label or "",
        "agent": run.agent,
        "run": run.id,
    }
    argv = filled(child.command, values)
    write_private(folder.path / f"prompt-{errand.number}", errand.prompt.encode(errors="replace"))
    program = Program(
        argv=argv,
        cwd=child.cwd or str(folder.path),
        env=_environment(run, child.secret, store, folder),
        folder=str(program_folder(folder.path, errand.number)),
        run=mark(run.id, errand.number),
        stdin=None if takes_prompt(child.command) else errand.prompt.encode(errors="replace"),
        time_limit=run.time_limit,
    )
    return RunningProgram(await launcher.start(program), errand, folder, attachments)


def _environment(run: Run, secret: str, store: str, folder: RunFolder) -> Mapping[str, str]:
    """Return the environment that lets a program act as its session, and describes its run."""
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    about = {
        "COVEY_SESSION": f"{run.session}:{secret}",
        "COVEY_AGENT": run.agent,
        "COVEY_STORE": store,
        "COVEY_RUN_ID": run.id,
        "COVEY_SESSION_KEY": str(run.key),
        "COVEY_PARENT": run.parent_agent,
        "COVEY_REQUEST": run.request,
        "COVEY_FOLDER": str(folder.path),
    }
    return {**inherited, **about, **({"COVEY_LABEL": run.label} if run.label else {})}
