"""The runner: it does a task by running a program, or by recovering the outcome of an earlier run."""

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.backoff import Backoff
from covey.core.errors import LauncherUnavailable
from covey.core.names import AgentName
from covey.ports.launcher import GRACE_S, Launcher, Program, ProgramEnd, StartedProgram
from covey.runtime.programs.command import Command, prompt_for
from covey.runtime.programs.folders import RunFolder, TaskFolders, attach, write_private
from covey.runtime.programs.outcomes import is_final, outcome_of
from covey.runtime.programs.output import report
from covey.runtime.tasks.held_task import Failure, HeldTask, Result, parts_of
from covey.services.mail.attachments import Attachments

STARTS: Final = 5
"""Number of tries to start a program while the launcher is unavailable."""
PAUSES: Final = Backoff(first=0.2, longest=60.0)
"""Seconds between those tries."""


class ProgramTerms(NamedTuple):
    """The command for each task, and its limits."""

    command: Command
    cwd: Path
    environment: Mapping[str, str]
    """Environment variables of programs, besides those of their task."""
    is_bare: bool = False
    """True if the prompt is the task's text alone."""
    time_limit: timedelta | None = None
    grace: timedelta = timedelta(seconds=GRACE_S)
    """Grace period of a program between the request to end and the kill."""


class Runner:
    def __init__(
        self,
        job: ProgramTerms,
        folders: TaskFolders,
        launcher: Launcher,
        agent: AgentName,
        attachments: Attachments,
        tell: Callable[[HeldTask, str], None],
    ) -> None:
        self._job = job
        self._folders = folders
        self._launcher = launcher
        self._agent = agent
        self._attachments = attachments
        self._tell = tell

    async def do(self, held: HeldTask) -> Result | Failure:
        """Run the program for a task, and return its outcome. A cancellation stops the program."""
        earlier = await self._recall(held.id)
        if earlier is not None:
            return await self._outcome(*earlier)
        folder, running = await self._start(held)

        async def tell(text: str) -> None:
            self._tell(held, text)
            await held.progress(parts_of(text, None, ()))

        try:
            await report(running.lines(), tell)
            return await self._outcome(folder, await running.wait())
        except asyncio.CancelledError:
            await running.stop("its task is over, or its worker ends")
            raise

    async def _recall(self, task: str) -> tuple[RunFolder, ProgramEnd] | None:
        """Return the earlier run of a task that ended without being reported, or None. The remaining processes of all
        earlier runs are killed."""
        found: tuple[RunFolder, ProgramEnd] | None = None
        for folder in self._folders.runs(task):
            await self._launcher.sweep(folder.id, str(folder.run))
            ended = self._launcher.recall(str(folder.run))
            if found is None and ended is not None and is_final(ended):
                found = folder, ended
        return found

    async def _start(self, held: HeldTask) -> tuple[RunFolder, StartedProgram]:
        for pause in islice(PAUSES.pauses(), STARTS - 1):
            try:
                return await self._start_once(held)
            except LauncherUnavailable:
                await asyncio.sleep(pause)
        return await self._start_once(held)

    async def _start_once(self, held: HeldTask) -> tuple[RunFolder, StartedProgram]:
        """Start the program in a folder of its own, with the task's files and its prompt."""
        job, agent = self._job, self._agent
        folder = self._folders.new_run(held.id, held.attempt)
        attachments = await attach(held, folder.attachments)
        prompt = held.text if job.is_bare else prompt_for(held, agent, attachments, folder.output)
        write_private(folder.prompt, prompt.encode())
        values = {"prompt": prompt, "task": held.id, "folder": str(folder.path), "agent": agent}
        program = Program(
            argv=job.command.filled(values),
            cwd=str(job.cwd),
            env={**os.environ, **job.environment, **_about(held, folder)},
            folder=str(folder.run),
            run=folder.id,
            stdin=None if job.command.takes_prompt else prompt.encode(),
            time_limit=job.time_limit.total_seconds() if job.time_limit else None,
            grace=job.grace.total_seconds(),
        )
        return folder, await self._launcher.start(program)

    async def _outcome(self, folder: RunFolder, ended: ProgramEnd) -> Result | Failure:
        return await outcome_of(self._job.command.name, ended, folder, self._attachments, self._job.time_limit)


def _about(held: HeldTask, folder: RunFolder) -> Mapping[str, str]:
    """Return the environment variables that describe the task."""
    return {
        "COVEY_TASK": held.id,
        "COVEY_ATTEMPT": str(held.attempt),
        "COVEY_FOLDER": str(folder.path),
    }
