"""The checkup of blobs: missing content that messages refer to, and leftovers of killed writers."""

import os
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

from covey.core.care.diagnoses import BLOB_MISSING, LEFTOVER_FILES
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import StoreReadOnly
from covey.core.identity import Identity
from covey.core.store_url import BLOBS_FOLDER
from covey.core.text.wording import counted
from covey.ports.checkup import Tell

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

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
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
