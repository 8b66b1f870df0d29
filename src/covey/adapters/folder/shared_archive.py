"""The archive that agent loops share: of two programs that archive the same message, the first rename wins."""

import os
from collections.abc import Collection

from covey.adapters.folder import atomic
from covey.adapters.folder.disk_layout import ARCHIVE, INBOXES, SWEPT, suffix_of
from covey.adapters.folder.entries import stands
from covey.core.formats.layout import Layout

_SUFFIX = suffix_of(Layout.DIALOGUE)


class FolderArchive:
    """`SharedArchive` of agent loops. No lock is needed: a file can be renamed away only once. If the rename of a loop
    fails, the loop concludes that another program has archived the message."""

    def __init__(self, root: str) -> None:
        self._root = root

    def claim(self, file_ids: Collection[str]) -> bool:
        os.makedirs(f"{self._root}/{ARCHIVE}", exist_ok=True)
        if not stands(self._root, ARCHIVE):
            return True  # it can't be used, which is reported elsewhere
        names = [f"{file_id}{_SUFFIX}" for file_id in file_ids]
        for owner in self._folders_in(INBOXES):
            for name in names:
                if self._moved(f"{INBOXES}/{owner}", name):
                    return True
        return not any(self._is_archived(name) for name in names)

    def path_of(self, file_id: str) -> str | None:
        name = f"{file_id}{_SUFFIX}"
        inboxes = (f"{INBOXES}/{owner}" for owner in self._folders_in(INBOXES))
        return next((found for folder in (*inboxes, *self._archives()) if (found := self._file(folder, name))), None)

    def _moved(self, folder: str, name: str) -> bool:
        source, target = f"{self._root}/{folder}/{name}", f"{self._root}/{ARCHIVE}/{name}"
        if os.path.lexists(target):
            return False  # a rename would replace another file
        try:
            os.rename(source, target)
        except FileNotFoundError:
            return False
        atomic.sync_folders((f"{self._root}/{ARCHIVE}", f"{self._root}/{folder}"))
        return True

    def _is_archived(self, name: str) -> bool:
        return any(self._file(folder, name) for folder in self._archives())

    def _archives(self) -> Collection[str]:
        return (ARCHIVE, *(f"{SWEPT}/{task}" for task in self._folders_in(SWEPT)))

    def _file(self, folder: str, name: str) -> str | None:
        path = f"{self._root}/{folder}/{name}"
        return path if os.path.lexists(path) else None

    def _folders_in(self, folder: str) -> Collection[str]:
        try:
            names = os.listdir(f"{self._root}/{folder}")
        except OSError:
            return ()
        return [name for name in names if stands(self._root, f"{folder}/{name}")]
