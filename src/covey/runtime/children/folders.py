"""The folders of runs: one for each run, for as long as it is needed.

FOLDER/RUN/attachments   the files that came with its task
FOLDER/RUN/output        files of its program, which are attached to its answer
FOLDER/RUN/prompt-N      the prompt of each of its errands
FOLDER/RUN/run-N         the output and the outcome of each errand, written by the launcher
"""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.message import FilePart
from covey.core.store_url import RUNS_FOLDER, StoreUrl
from covey.core.work.run import RunId
from covey.engines import home_of
from covey.runtime.programs.folders import PRIVATE, RunFolder, safe_name, write_private

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
            raise Invalid("workspace", cwd, "there is no such folder to start in")
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
