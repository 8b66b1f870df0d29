"""The files of a space's store, which are never read as attachments.

They hold the mail of all agents. Also, a process that closes a file releases all its POSIX locks on the file, including
the locks of SQLite and of liveness. So such a file must not even be opened.
"""

import os
from collections.abc import Iterator
from typing import Final, Protocol

from covey.core.store_url import (
    BLOBS_FOLDER,
    LIVE_FOLDER,
    RUNS_FOLDER,
    STORE_FOLDER,
    WORK_FOLDER,
)

_WORKPLACES: Final = (RUNS_FOLDER, WORK_FOLDER)
_FOLDERS: Final = (BLOBS_FOLDER, LIVE_FOLDER, *_WORKPLACES)


class MailFolder(Protocol):
    """A shared folder that stores the mail of agents as files."""

    @property
    def root(self) -> str: ...

    def has(self, path: str) -> bool:
        """Tell whether a real path belongs to the mail."""
        ...


class StoreFiles:
    """The store of one space: its ledger, the files of its mail in a shared folder, and every folder with the name of a
    store folder."""

    def __init__(self, ledger: str | None = None, mail: MailFolder | None = None) -> None:
        self._ledger = None if ledger is None else os.path.realpath(ledger)
        self._mail = mail

    def has(self, path: str) -> bool:
        """Tell whether a real path is in a store."""
        if any(part.casefold() == STORE_FOLDER for part in path.split("/")):
            return True
        if self._mail is not None and self._mail.has(path):
            return True
        if self._ledger is None:
            return False
        folder = os.path.dirname(self._ledger)
        return path.startswith(self._ledger) or any(_is_in(path, f"{folder}/{name}") for name in _FOLDERS)

    def is_workplace(self, path: str) -> bool:
        """Tell whether a real path is in the working folder of a run. The run's program works there, and the folder
        holds no files of the store."""
        parts = path.split("/")
        return any(
            part in _WORKPLACES and self._is_store_folder("/".join(parts[:at])) for at, part in enumerate(parts[:-1])
        )

    def is_link_into(self, status: os.stat_result) -> bool:
        """Tell whether a file is a hard link to a file of the store."""
        if status.st_nlink < 2 or self._ledger is None:
            return False
        return any(entry.inode() == status.st_ino and _is_same(entry, status) for entry in self._files())

    def _is_store_folder(self, path: str) -> bool:
        is_own = self._ledger is not None and path == os.path.dirname(self._ledger)
        return is_own or os.path.basename(path).casefold() == STORE_FOLDER

    def _files(self) -> Iterator["os.DirEntry[str]"]:
        assert self._ledger is not None
        for entry in _entries(os.path.dirname(self._ledger)):
            if self.has(entry.path):
                yield from _walk(entry)
        if self._mail is not None:
            for entry in _entries(self._mail.root):
                yield from (file for file in _walk(entry) if self._mail.has(file.path))


def _walk(entry: "os.DirEntry[str]") -> Iterator["os.DirEntry[str]"]:
    if not entry.is_dir(follow_symlinks=False):
        yield entry
        return
    for inner in _entries(entry.path):
        yield from _walk(inner)


def _entries(folder: str) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # the folder is gone, or this user may not read it


def _is_same(entry: "os.DirEntry[str]", status: os.stat_result) -> bool:
    try:
        return os.path.samestat(entry.stat(follow_symlinks=False), status)
    except OSError:
        return False


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
