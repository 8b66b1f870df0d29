"""The folders of tasks: one for each task, with a folder for each run.

FOLDER/TASK/RUN/attachments   the files that came with the task
FOLDER/TASK/RUN/output        files of the program, which are attached to the result
FOLDER/TASK/RUN/prompt        the prompt
FOLDER/TASK/RUN/run           the output and the outcome, written by the launcher
"""

import asyncio
import os
import re
import secrets
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import Invalid, NotFound
from covey.core.ids import parse_message_id
from covey.runtime.tasks.held import HeldTask
from covey.services.tasks.tasks import Tasks

PRIVATE: Final = 0o700
LONGEST_NAME: Final = 120
_UNSAFE: Final = re.compile(r"[^\w.,+@()\[\]-]+")


class RunFolder(NamedTuple):
    path: Path
    task: str

    @property
    def id(self) -> str:
        """The run's unique id."""
        return f"{self.task}/{self.path.name}"

    @property
    def attachments(self) -> Path:
        return self.path / "attachments"

    @property
    def output(self) -> Path:
        return self.path / "output"

    @property
    def prompt(self) -> Path:
        return self.path / "prompt"

    @property
    def run(self) -> Path:
        return self.path / "run"


class Folders:
    def __init__(self, root: Path) -> None:
        self.root = root

    def make_root(self) -> None:
        """Create the root folder if it is missing, for its owner alone."""
        try:
            for folder in (self.root.parent, self.root):
                folder.mkdir(PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise Invalid("folder", str(self.root), (error.strerror or str(error)).lower()) from None

    def new_run(self, task: str, attempt: int) -> RunFolder:
        """Create a folder for one run."""
        made = RunFolder(self.root / task / f"{attempt:03}-{secrets.token_hex(4)}", task)
        made.path.parent.mkdir(PRIVATE, exist_ok=True)
        for folder in (made.path, made.attachments, made.output):
            folder.mkdir(PRIVATE)
        return made

    def runs(self, task: str) -> Sequence[RunFolder]:
        """Return the folders of the runs of a task, the newest attempt first."""
        try:
            paths = sorted((self.root / task).iterdir(), reverse=True)
        except FileNotFoundError:
            return ()
        return [RunFolder(path, task) for path in paths if path.is_dir() and not path.is_symlink()]

    async def clean(self, tasks: Tasks, keep: int, running: Collection[str]) -> None:
        """Remove the folders of the oldest tasks, so that about `keep` are left. Folders of unfinished tasks stay,
        because they may hold the outcome of a run."""
        names = sorted(path.name for path in self.root.iterdir())  # ids sort by time
        for name in names[: max(0, len(names) - keep)]:
            if name not in running and await _is_finished(tasks, name):
                # Another worker may remove the same folder.
                await asyncio.to_thread(shutil.rmtree, self.root / name, ignore_errors=True)


async def attach(held: HeldTask, folder: Path) -> Sequence[Path]:
    """Write the files of a task under safe names; return their paths."""
    paths: list[Path] = []
    for number, part in enumerate(held.files, 1):
        path = folder / safe_name(part.name, number)
        if path in paths:
            path = folder / f"{number}-{path.name}"
        write_private(path, await held.file(part))
        paths.append(path)
    return paths


def write_private(path: Path, content: bytes) -> None:
    """Write a new file, for its owner alone."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:  # noqa: PTH123 - the descriptor is already open
        file.write(content)


def safe_name(name: str, number: int) -> str:
    """Return a safe file name for a foreign one: no path, no hidden file, no leading dash, no control characters."""
    safe = _UNSAFE.sub("_", name.replace("\\", "/").rpartition("/")[2]).lstrip(".-")
    stem, dot, suffix = safe.rpartition(".")
    if len(safe) > LONGEST_NAME:
        safe = f"{(stem or suffix)[: LONGEST_NAME - 20]}{dot}{suffix[-19:]}" if stem else safe[:LONGEST_NAME]
    while len(safe.encode()) > 2 * LONGEST_NAME:
        safe = safe[1:]
    return safe or f"file-{number}"


async def _is_finished(tasks: Tasks, name: str) -> bool:
    try:
        return (await tasks.view(parse_message_id(name))).task.is_finished
    except Invalid:
        return False  # not one of ours
    except NotFound:
        return True  # the task was pruned
