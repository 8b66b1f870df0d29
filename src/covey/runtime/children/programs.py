"""The launcher `command`: any program, from the command on its agent's card."""

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from covey.core.errors import Invalid
from covey.core.work.run import Run, RunState
from covey.ports.children import Errand, Product
from covey.ports.launcher import Ended, Ending, Launcher, Line, Program, Running
from covey.runtime.children.folders import RunFolders, mark, program_folder
from covey.runtime.programs.command import LONGEST_WORD
from covey.runtime.programs.folders import RunFolder, write_private
from covey.runtime.programs.outcomes import outcome_of
from covey.runtime.programs.printed import read_printed
from covey.runtime.tasks.results import Failure, Result
from covey.services.mail.attachments import Attachments

PLACEHOLDERS: Final = ("prompt", "task", "folder", "label", "agent", "run")
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")


def takes_prompt(words: Sequence[str]) -> bool:
    """Tell whether a command gets its prompt as an argument; otherwise the prompt is on stdin."""
    return any("{prompt}" in word or "{task}" in word for word in words)


def filled(words: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words with their placeholders filled in: each word stays one argument, whatever its value contains."""
    if _PLACEHOLDER.search(words[0]):
        raise Invalid("command", words[0], "the program itself can't come from the task")
    found = tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in words)
    if max(len(os.fsencode(word)) for word in found) > LONGEST_WORD:
        rule = f"an argument has at most {LONGEST_WORD:,} bytes; a command without {{prompt}} and {{task}} reads stdin"
        raise Invalid("prompt", f"{len(values['prompt']):,} characters", rule)
    return found


_STATES: Final = {
    Ending.TIMED_OUT: RunState.TIMED_OUT,
    Ending.STOPPED: RunState.STOPPED,
    Ending.ABANDONED: RunState.STOPPED,
    Ending.LOST: RunState.LOST,
}


async def product_of(
    name: str, ended: Ended, folder: RunFolder, attachments: Attachments, limit: float | None
) -> Product:
    """Return the product of a program, even of an incomplete run. The rules are those of `covey work`."""
    seconds = None if limit is None else timedelta(seconds=limit)
    outcome = await outcome_of(name, ended, folder, attachments, seconds)
    if isinstance(outcome, Result):
        return Product(RunState.COMPLETED, outcome.text, outcome.data, outcome.files)
    state = _STATES.get(ended.ending, RunState.FAILED)
    reason = ended.why or outcome.reason if state is RunState.STOPPED else outcome.reason
    return Product(state, _text(ended, outcome), outcome.data, outcome.files, reason)


def _text(ended: Ended, failure: Failure) -> str:
    """Return the text for the parent. A run that was interrupted may have printed a good part of its result."""
    printed = read_printed(ended.stdout) if ended.ending is not Ending.EXITED else None
    if printed is None or not printed.text:
        return failure.text or failure.reason
    return f"{failure.reason.partition(': ')[0]}.\n\nWhat it printed until then:\n{printed.text}"


OURS: Final = frozenset({"COVEY_TOKEN", "COVEY_TASK", "COVEY_ATTEMPT", "COVEY_LABEL", "COVEY_PARENT"})
"""Environment variables of the parent that a child does not inherit."""


class RunningProgram:
    """A program that does an errand of a child."""

    def __init__(self, running: Running, errand: Errand, folder: RunFolder, attachments: Attachments) -> None:
        self._running = running
        self._errand = errand
        self._folder = folder
        self._attachments = attachments

    def lines(self) -> AsyncIterator[Line]:
        """Iterate over the output lines as they arrive."""
        return self._running.lines()

    async def wait(self) -> Product:
        """Return the product. A cancellation leaves the program running."""
        child = self._errand.child
        ended = await self._running.wait()
        return await product_of(
            Path(child.command[0]).name, ended, self._folder, self._attachments, child.run.time_limit
        )

    async def stop(self, why: str) -> Product:
        """Terminate the program, and kill it after its grace period."""
        await self._running.stop(why)
        return await self.wait()


async def start_program(
    errand: Errand, folders: RunFolders, launcher: Launcher, store: str, attachments: Attachments
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
