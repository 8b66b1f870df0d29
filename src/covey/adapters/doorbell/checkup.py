"""The checkup of doorbells: the runtime folder must be private, and contain no sockets of dead processes."""

import os
import time
from collections.abc import Sequence
from typing import Final

from covey.adapters.doorbell.listening_socket import dead_sockets, names_in, sweep, topics_in
from covey.adapters.doorbell.ringer import remove_link
from covey.adapters.doorbell.runtime_folder import (
    RuntimeFolderUnusable,
    check_path,
    make_private,
    privacy_flaw,
    space_folder,
)
from covey.core.care.diagnoses import RUNTIME_FOLDER_UNUSABLE, STALE_DOORBELL
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import StoreReadOnly
from covey.core.identity import Identity
from covey.core.reporting import counted
from covey.ports.care import ProgressCallback

LOOKS: Final = 3
BETWEEN_LOOKS_S: Final = 0.05


class DoorbellCheckup:
    """`Checkup` of the space whose store is at a path. Files of other spaces in the runtime folder are left alone."""

    area = Area.WAKEUPS

    def __init__(self, store: str, runtime: str) -> None:
        self._runtime = runtime
        self._space = space_folder(runtime, store)

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        unusable = self._unusable()
        if unusable is not None:
            return Examination(self.area, "", (unusable,))
        stale = self._stale()
        if not stale:
            listening = len(names_in(f"{self._space}/p"))
            return Examination(self.area, f"{counted(listening, 'process', 'processes')} listening")
        what = f"{counted(len(stale), 'doorbell')} that no process answers"
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
        # The permissions of a folder of this user can be repaired; a folder of another user, or a link, can't.
        hindrance = None if _is_own(self._runtime) else flaw
        return Finding(RUNTIME_FOLDER_UNUSABLE, f"the runtime folder {self._runtime}: {flaw}", hindrance=hindrance)

    def _stale(self) -> list[str]:
        """Return the sockets of dead processes, and the dangling links. The files of a process that is just closing
        look the same for a moment, so only files that are stale in every check count."""
        stale = self._stale_now()
        for _ in range(LOOKS - 1):
            if stale:
                time.sleep(BETWEEN_LOOKS_S)
                now = self._stale_now()
                stale = [path for path in stale if path in now]
        return stale

    def _stale_now(self) -> list[str]:
        return [*sorted(f"{self._space}/p/{name}" for name in dead_sockets(self._space)), *self._stray_links()]

    def _stray_links(self) -> list[str]:
        """Return the dangling links. A live process never has one: its socket is bound before its links are made, and
        removed after them."""
        links = [f"{topic}/{name}" for topic in topics_in(self._space) for name in names_in(f"{self._space}/{topic}")]
        sockets = set(names_in(f"{self._space}/p"))
        return sorted(f"{self._space}/{link}" for link in links if os.path.basename(link) not in sockets)


def _is_own(folder: str) -> bool:
    status = os.lstat(folder)
    return os.path.isdir(folder) and not os.path.islink(folder) and status.st_uid == os.geteuid()
