"""The launcher `command`: any program, from the command on its agent's card."""

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

from covey.core.run import Run
from covey.ports.launcher import Launcher, Line, Program, Running
from covey.ports.launching import Errand, Product
from covey.runtime.children.command import filled, takes_prompt
from covey.runtime.children.folders import RunFolders, mark, program_folder
from covey.runtime.children.products import product_of
from covey.runtime.programs.folders import RunFolder, write_private
from covey.services.attachments import Attachments

OURS: Final = frozenset({"COVEY_TOKEN", "COVEY_TASK", "COVEY_ATTEMPT", "COVEY_LABEL", "COVEY_PARENT"})
"""What is about the parent, and not for the child."""


class RunningProgram:
    """A program that does an errand of a child."""

    def __init__(self, running: Running, errand: Errand, folder: RunFolder, attachments: Attachments) -> None:
        self._running = running
        self._errand = errand
        self._folder = folder
        self._attachments = attachments

    def lines(self) -> AsyncIterator[Line]:
        """Go through what it prints, as it comes."""
        return self._running.lines()

    async def wait(self) -> Product:
        """Return what came of it. Being cancelled leaves it running."""
        child = self._errand.child
        ended = await self._running.wait()
        return await product_of(
            Path(child.command[0]).name, ended, self._folder, self._attachments, child.run.time_limit
        )

    async def stop(self, why: str) -> Product:
        """Tell it to terminate, and kill it where it does not."""
        await self._running.stop(why)
        return await self.wait()


async def start_program(
    errand: Errand, folders: RunFolders, launcher: Launcher, store: str, attachments: Attachments
) -> RunningProgram:
    """Start the program of a child in its folder, with what it is told."""
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
    """Return what lets a program act as its session, and tells it about itself."""
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
