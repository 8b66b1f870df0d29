"""Doorbells under examination: a private folder, and in it no sockets that nobody answers."""

import os
import time
from collections.abc import Sequence
from typing import Final

from covey.adapters.doorbell.door import dead_doors, names_in, sweep, topics_in
from covey.adapters.doorbell.folders import (
    RuntimeFolderUnusable,
    check_path,
    make_private,
    privacy_flaw,
    space_folder,
)
from covey.adapters.doorbell.ring import remove_link
from covey.core.care.diagnoses import RUNTIME_FOLDER_UNUSABLE, STALE_DOORBELL
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import StoreReadOnly
from covey.core.identity import Identity
from covey.core.text.wording import counted
from covey.ports.checkup import Tell

LOOKS: Final = 3
BETWEEN_LOOKS_S: Final = 0.05


class DoorbellCheckup:
    """Of the space whose store is at this path; what other spaces have in the folder is left alone."""

    area = Area.WAKEUPS

    def __init__(self, store: str, runtime: str) -> None:
        self._runtime = runtime
        self._space = space_folder(runtime, store)

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell
        unusable = self._unusable()
        if unusable is not None:
            return Examination(self.area, "", (unusable,))
        stale = self._stale()
        if not stale:
            listening = len(names_in(f"{self._space}/p"))
            return Examination(self.area, f"{counted(listening, 'process', 'processes')} listening")
        what = f"{counted(len(stale), 'doorbell')} that nobody answers"
        return Examination(self.area, "", (Finding(STALE_DOORBELL, what, tuple(stale)),))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        if any(finding.diagnosis is RUNTIME_FOLDER_UNUSABLE for finding in findings):
            try:
                os.chmod(self._runtime, 0o700)
            except OSError as error:
                raise StoreReadOnly(self._runtime, error.strerror or str(error)) from error
            make_private(self._runtime)
        sweep(self._space)
        for link in self._stray_links():
            remove_link(os.path.dirname(link), os.path.basename(link))

    def _unusable(self) -> Finding | None:
        try:
            check_path(self._runtime)
            flaw = privacy_flaw(self._runtime) if os.path.lexists(self._runtime) else None
        except RuntimeFolderUnusable as error:
            return Finding(RUNTIME_FOLDER_UNUSABLE, error.message, hindrance="only you can choose another folder")
        if flaw is None:
            return None
        # Rights on a folder of one's own can be set; a folder of another user, or a link, has to go.
        hindrance = None if _is_own(self._runtime) else flaw
        return Finding(RUNTIME_FOLDER_UNUSABLE, f"the runtime folder {self._runtime}: {flaw}", hindrance=hindrance)

    def _stale(self) -> list[str]:
        """Return the sockets that nobody answers, and the links that lead nowhere. For a moment those of a process that
        is just closing look so too: what is gone at the next look does not count."""
        stale = self._stale_now()
        for _ in range(LOOKS - 1):
            if stale:
                time.sleep(BETWEEN_LOOKS_S)
                now = self._stale_now()
                stale = [path for path in stale if path in now]
        return stale

    def _stale_now(self) -> list[str]:
        return [*sorted(f"{self._space}/p/{name}" for name in dead_doors(self._space)), *self._stray_links()]

    def _stray_links(self) -> list[str]:
        """Return the links that lead nowhere. A socket is bound before it is linked to, and removed after its links."""
        links = [f"{topic}/{name}" for topic in topics_in(self._space) for name in names_in(f"{self._space}/{topic}")]
        doors = set(names_in(f"{self._space}/p"))
        return sorted(f"{self._space}/{link}" for link in links if os.path.basename(link) not in doors)


def _is_own(folder: str) -> bool:
    status = os.lstat(folder)
    return os.path.isdir(folder) and not os.path.islink(folder) and status.st_uid == os.geteuid()
