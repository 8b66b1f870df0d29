"""The checkups of a space's files: permissions of its folder, missing blobs, and leftovers of killed writers."""

import os
import stat
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from covey.core.care.diagnoses import BLOB_MISSING, LEFTOVER_FILES, WRONG_PERMISSIONS
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import StoreReadOnly
from covey.core.identity import Identity
from covey.core.reporting import counted
from covey.core.store_url import BLOBS_FOLDER, LIVE_FOLDER, WORK_FOLDER
from covey.ports.care import ProgressCallback

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
OWN_FOLDERS: Final = (LIVE_FOLDER, BLOBS_FOLDER, WORK_FOLDER)
"""Folders of Covey. The work folder holds the files of programs that run for tasks. The folder itself must be private;
its content belongs to those programs and is not checked."""


class _Entry(NamedTuple):
    path: str
    mode: int
    wanted: int
    is_own: bool
    """True if the entry belongs to this user. Only the owner and root can set its mode."""

    @property
    def is_wrong(self) -> bool:
        return self.mode != self.wanted or not self.is_own

    @property
    def can_be_set(self) -> bool:
        return self.mode != self.wanted and (self.is_own or os.geteuid() == 0)

    def __str__(self) -> str:
        owner = "" if self.is_own else ", of another user"
        return f"{self.path} ({self.mode:04o} instead of {self.wanted:04o}{owner})"


class FolderCheckup:
    """The checkup of the folder of the store at `path`: the store file, the files beside it whose names start with its
    name, and Covey's own folders. A parent folder with the usual name is Covey's own and is checked as a whole. Any
    other folder may hold files that are not Covey's."""

    area = Area.FILES

    def __init__(self, path: str, usual_name: str) -> None:
        self._path = os.path.realpath(path)
        self._folder = os.path.dirname(self._path)
        self._is_ours = os.path.basename(self._folder) == usual_name

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        entries = list(self._entries())
        wrong = [entry for entry in entries if entry.is_wrong]
        if not wrong:
            return Examination(
                self.area, f"{counted(len(entries), 'file or folder', 'files and folders')}, for their owner alone"
            )
        hindrance = None if any(entry.can_be_set for entry in wrong) else "they belong to another user"
        what = f"{len(wrong)} of {len(entries)} files and folders have the wrong rights"
        return Examination(
            self.area, "", (Finding(WRONG_PERMISSIONS, what, tuple(map(str, wrong)), hindrance=hindrance),)
        )

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        for entry in self._entries():
            if entry.can_be_set:
                try:
                    os.chmod(entry.path, entry.wanted)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise StoreReadOnly(entry.path, error.strerror or str(error)) from error

    def _entries(self) -> Iterator[_Entry]:
        """Yield the entries of Covey, each folder before its content: a folder without permissions hides its
        content."""
        if self._is_ours:
            yield from _walk(self._folder, f"{self._folder}/{WORK_FOLDER}")
            return
        for name in _names(self._folder):
            if name.startswith(os.path.basename(self._path)) or name in OWN_FOLDERS:
                yield from _walk(f"{self._folder}/{name}", f"{self._folder}/{WORK_FOLDER}")


def _walk(path: str, closed: str) -> Iterator[_Entry]:
    """Yield a folder and its content, recursively, but not the content of the closed folder."""
    try:
        status = os.lstat(path)
    except OSError:
        return  # the entry has just gone, or can't be read because the folder above it has the wrong mode
    is_folder = stat.S_ISDIR(status.st_mode)
    if is_folder or stat.S_ISREG(status.st_mode):
        wanted = FOLDER_MODE if is_folder else FILE_MODE
        yield _Entry(path, stat.S_IMODE(status.st_mode), wanted, status.st_uid == os.geteuid())
    if is_folder and path != closed:
        for name in _names(path):
            yield from _walk(f"{path}/{name}", closed)


def _names(folder: str) -> Sequence[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return ()


_LEFTOVER_AGE_S: Final = 3600.0

References = Callable[[], Awaitable[Collection[str]]]
"""Returns the digests that messages refer to."""


class BlobsCheckup:
    """`Checkup` of the blobs in a folder. It checks that the files exist, but not their content: that would mean to
    read all of them."""

    area = Area.BLOBS

    def __init__(self, folder: str, references: References) -> None:
        self._folder = f"{folder}/{BLOBS_FOLDER}"
        self._references = references

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        references = await self._references()
        gone = sorted(digest for digest in references if not self._has(digest))
        findings: list[Finding] = []
        if gone:
            what = f"{counted(len(gone), 'attached file')} without content, of {len(references):,}"
            findings.append(Finding(BLOB_MISSING, what, tuple(gone)))
        if leftovers := self._leftovers():
            what = f"{counted(len(leftovers), 'unfinished file')} in the blobs folder"
            findings.append(Finding(LEFTOVER_FILES, what, tuple(leftovers)))
        return Examination(self.area, f"{counted(len(references), 'attached file')}, all there", tuple(findings))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        for leftover in self._leftovers():
            try:
                os.unlink(leftover)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreReadOnly(leftover, error.strerror or str(error)) from error

    def _has(self, digest: str) -> bool:
        return os.path.isfile(f"{self._folder}/{digest[:2]}/{digest[2:]}")

    def _leftovers(self) -> Sequence[str]:
        """Return the unfinished files that are older than any live writer's file can be."""
        oldest = time.time() - _LEFTOVER_AGE_S
        try:
            with os.scandir(f"{self._folder}/tmp") as entries:
                return sorted(entry.path for entry in entries if entry.stat().st_mtime < oldest)
        except OSError:
            return ()
