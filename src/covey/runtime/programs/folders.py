"""The folders of programs: one for each run of a task, and one for each run of a child.

FOLDER/TASK/RUN of a task, and FOLDER/RUN of a child for as long as it is needed, contain:

attachments   the files that came with the task
output        files of the program, which are attached to the result
prompt        the prompt; of a child prompt-N, for each of its errands
run           the output and the outcome, written by the launcher; of a child run-N, for each of its errands
"""

import asyncio
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import Invalid, NotFound
from covey.core.ledger.message import FilePart
from covey.core.names import parse_message_id
from covey.core.store_url import RUNS_FOLDER, StoreUrl
from covey.core.work.run import RunId
from covey.engines import home_of
from covey.runtime.tasks.held_task import HeldTask
from covey.services.tasks.tasks import Delegation

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


class TaskFolders:
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

    async def clean(self, tasks: Delegation, keep: int, running: Collection[str]) -> None:
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


async def _is_finished(tasks: Delegation, name: str) -> bool:
    try:
        return (await tasks.view(parse_message_id(name))).task.is_finished
    except Invalid:
        return False  # not one of ours
    except NotFound:
        return True  # the task was pruned


_RUN: Final = "run-"


class RunFolders:
    """The folders of all runs, beside the store. If the store has no folder, they are in a temporary one that ends with
    this process."""

    def __init__(self, url: StoreUrl) -> None:
        home = home_of(url)
        self._is_own = home is None
        self._root = None if home is None else Path(home) / RUNS_FOLDER

    @property
    def root(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="covey-runs-"))
        return self._root

    def of(self, run_id: RunId) -> RunFolder:
        """Return the folder of a run, which need not exist."""
        return RunFolder(self.root / run_id, run_id)

    def make(self, run_id: RunId, files: Mapping[str, bytes], cwd: str | None) -> None:
        """Create the folder of a run, for its owner alone, with its attachments; raise Invalid if that fails, or if the
        working directory of the program does not exist."""
        if cwd is not None and not Path(cwd).is_dir():
            raise Invalid("workspace", cwd, "the folder does not exist")
        folder = self.of(run_id)
        try:
            if not self.root.is_dir():
                self.root.mkdir(PRIVATE, parents=True, exist_ok=True)
            for path in (folder.path, folder.attachments, folder.output):
                path.mkdir(PRIVATE)
            for name, content in files.items():
                write_private(folder.attachments / name, content)
        except OSError as error:
            raise Invalid("folder", str(folder.path), (error.strerror or str(error)).lower()) from None

    def programs(self, run_id: RunId) -> Sequence[tuple[str, Path]]:
        """Return the programs that ran in the folder of a run: the launcher's id of each, and its folder."""
        path = self.of(run_id).path
        numbers = [name.removeprefix(_RUN) for name in _names(path) if name.startswith(_RUN)]
        return [(mark(run_id, number), program_folder(path, number)) for number in numbers]

    def empty_output(self, run_id: RunId) -> None:
        """Empty the output folder for the next errand."""
        output = self.of(run_id).output
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(PRIVATE, exist_ok=True)

    def remove(self, run_id: RunId) -> bool:
        """Remove the folder of a run, and tell whether it is gone."""
        path = self.of(run_id).path
        shutil.rmtree(path, ignore_errors=True)
        return not path.exists()

    def close(self) -> None:
        """Remove the temporary folder, if there is one."""
        if self._is_own and self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)


def mark(run_id: RunId, number: object) -> str:
    """Return the id that marks the processes of an errand."""
    return f"{run_id}/{number}"


def program_folder(path: Path, number: object) -> Path:
    """Return the launcher's folder of an errand."""
    return path / f"{_RUN}{number}"


def harmless_names(files: Sequence[FilePart]) -> Sequence[FilePart]:
    """Return the files with safe and unique names."""
    named: dict[str, FilePart] = {}
    for number, part in enumerate(files, 1):
        name = safe_name(part.name, number)
        while name in named:
            name = f"{number}-{name}"
        named[name] = part._replace(name=name)
    return [*named.values()]


def _names(path: Path) -> Sequence[str]:
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - only names are needed
    except FileNotFoundError:
        return ()
