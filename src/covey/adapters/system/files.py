"""Files from declared folders, each read as a whole, and the files of the store, which are never read.

The files of a store hold the mail of all agents. Also, a process that closes a file releases all its POSIX locks on the
file, including the locks of SQLite and of liveness. So such a file must not even be opened.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from covey.core.errors import FileOffLimits, FileOutsideRoots, Invalid
from covey.core.store_url import APPLICATION_ID, BLOBS_FOLDER, LIVE_FOLDER, RUNS_FOLDER, STORE_FOLDER, WORK_FOLDER
from covey.disk.files import NotReadable, read_beneath
from covey.ports.blobs import LoadedFile

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


_SECRET: Final = rb"[0-9a-f]{64}"
"""A secret of a space as text: 256 bits in hex."""

_CREDENTIALS: Final = (
    ("a token of a space", re.compile(rb"covey_" + _SECRET)),
    ("the secret of a session", re.compile(rb"-[0-9a-f]{12}:" + _SECRET)),
    ("a seed of NATS", re.compile(rb"SU[A-Z2-7]{56}(?![A-Z2-7])")),
)

_SQLITE: Final = b"SQLite format 3\0"
_MARK_AT: Final = 68
_MARK: Final = APPLICATION_ID.to_bytes(4, "big")


def why_private(content: bytes) -> str | None:
    """Return the reason why content is private, in words; None if the content is not private.

    Only formats of Covey itself are recognised. The secret of a channel has no format that could be recognised.
    """
    if content.startswith(_SQLITE) and content[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK:
        return "it is the ledger of a space"
    found = next((words for words, form in _CREDENTIALS if form.search(content)), None)
    return None if found is None else f"there is {found} in it"


MAX_FILE_BYTES: Final = 64 * 1024 * 1024

STORE: Final = "it belongs to the store of a space"


class RootedFiles:
    """Reads files whose real path, links followed, is under one of the roots."""

    def __init__(self, roots: Sequence[str], store: StoreFiles) -> None:
        self._roots = [os.path.realpath(os.path.expanduser(root)) for root in roots]
        self._store = store

    async def load(self, path: str) -> LoadedFile:
        return self.read(path)

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        return self.read_beneath(folder, path)

    def read(self, path: str) -> LoadedFile:
        """Like `load`, in the calling thread."""
        if "\0" in path:
            raise Invalid("file", path, "a path can't contain NUL")
        real = os.path.realpath(os.path.expanduser(path))
        roots = [root for root in self._roots if _is_under(real, root)]
        if not roots:
            raise FileOutsideRoots(path, self._roots)
        if self._store.has(real) and not any(self._store.is_workplace(root) for root in roots):
            raise FileOffLimits(path, STORE)
        content = self._content(roots[0], real[len(roots[0]) :], path)
        return LoadedFile(os.path.basename(real), path, content)

    def read_beneath(self, folder: str, path: str) -> LoadedFile:
        """Like `load_beneath`, in the calling thread."""
        return LoadedFile(os.path.basename(path), path, self._content(folder, path, path))

    def _content(self, folder: str, path: str, named: str) -> bytes:
        def check(status: os.stat_result) -> None:
            if self._store.is_link_into(status):
                raise FileOffLimits(named, STORE)

        try:
            content = read_beneath(folder, path, MAX_FILE_BYTES, check)
        except NotReadable as error:
            raise Invalid("file", named, str(error)) from None
        reason = why_private(content)
        if reason is not None:
            raise FileOffLimits(named, reason)
        return content


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
