"""Mailbox folders: the registry of agents, and the waiting files of each agent.

The registry is one JSON file, which foreign programs rewrite too. Our processes change the file one at a time, under a
lock of the kernel, and keep the entries and fields of foreign programs. Foreign programs do not know the lock. If one
of them overwrites an entry of ours, the entry comes back at the next heartbeat of its agent.
"""

import json
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, cast

from covey.adapters.folder import atomic, entries
from covey.adapters.folder.entries import explained
from covey.core.errors import StoreBusy
from covey.core.formats.layout import REGISTRY_NAME
from covey.core.formats.mailbox import ENDING
from covey.core.json import Json
from covey.disk.file_lock import FileLock
from covey.disk.lock_wait import take_within

REGISTRY: Final = REGISTRY_NAME
BROKEN: Final = ".broken-"
"""The suffix of a file that can't be used; the time follows."""
_LOCK_FOLDER: Final = ".covey"
_LOCK: Final = "registry.lock"
_LOCK_LIMIT_S: Final = 30.0
_LARGEST: Final = 64 * 1024 * 1024
_PATIENCE_S: Final = 0.2
"""The time for which a file that can't be read as JSON may be half written."""
_LOOK_S: Final = 0.02
_TRIES: Final = 20
"""The limit of attempts at a change while foreign programs keep writing. The last attempt writes in any case."""

Entries = dict[str, dict[str, Any]]
"""Entries by the name of the agent."""


class _RegistryState(NamedTuple):
    document: dict[str, Any] | None
    """The whole document; None if the file is broken."""
    stamp: tuple[int, int, int] | None
    """Inode, size and time of the file, which tell this state from others; None if there is no file, or it can't be
    opened."""
    mode: int | None = None


class RegistryFile:
    """The registry of the folder `root`, which must exist for a change. Safe for several threads and processes."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._path = f"{root}/{REGISTRY}"

    def entries(self) -> Entries:
        """Return the entries; none if the file is broken. The next change sets a broken file aside."""
        with explained(self._path):
            return _entries(self._look().document or {})

    def is_broken(self) -> bool:
        """Tell whether there is a file that can't be read."""
        with explained(self._path):
            return self._look().document is None

    def put(self, entries: Mapping[str, Mapping[str, Json]]) -> None:
        """Add or update entries by name. Fields that a new entry does not have stay, and so do all other entries."""

        def merge(there: Entries) -> Mapping[str, Mapping[str, Json]]:
            return {name: {**there.get(name, {}), **entry} for name, entry in entries.items()}

        self.change(merge)

    def change(self, change: Callable[[Entries], Mapping[str, Mapping[str, Json]]]) -> None:
        """Replace or add the entries that `change` returns, by name. `change` is called again if a foreign program
        writes meanwhile. A broken file is renamed first, and stays beside the new one."""
        with explained(self._path), self._lock():
            for attempt in range(_TRIES):
                seen = self._judge()
                document = seen.document or {}
                changed = {**document, **change(_entries(document))}
                if changed == document and seen.stamp is not None:
                    return
                content = _written(changed)
                if attempt + 1 == _TRIES or self._stamp() == seen.stamp:
                    atomic.write(self._path, content, seen.mode or 0o600)
                    atomic.remove_leftovers(self._root)
                    return

    def _judge(self) -> _RegistryState:
        """Read the file. If it is broken and stays so, rename it and return an empty document."""
        ends_at = time.monotonic() + _PATIENCE_S
        while (seen := self._look()).document is None:
            if time.monotonic() > ends_at:
                with suppress(FileNotFoundError):
                    os.rename(self._path, f"{self._path}{BROKEN}{time.time_ns() // 1_000_000}")
                return _RegistryState({}, None)
            time.sleep(_LOOK_S)
        return seen

    def _look(self) -> _RegistryState:
        try:
            with open(self._path, "rb", opener=_opener) as file:
                status = os.fstat(file.fileno())
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return _RegistryState({}, None)
        except (IsADirectoryError, PermissionError):
            return _RegistryState(None, None)
        return _RegistryState(_document(content), stamp, status.st_mode & 0o777)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    @contextmanager
    def _lock(self) -> Generator[None]:
        folder = atomic.make_folders(self._root, _LOCK_FOLDER)
        path = f"{folder}/{_LOCK}"
        # A separate open file for each change, so that the lock excludes threads as it excludes processes.
        lock = take_within(lambda: FileLock(path, os.O_NOFOLLOW), _LOCK_LIMIT_S)
        if lock is None:
            raise StoreBusy(path, _LOCK_LIMIT_S)
        try:
            yield
        finally:
            lock.close()


def _opener(path: str, flags: int) -> int:
    # Non-blocking, because opening a pipe would wait for ever.
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)


def _document(content: bytes) -> dict[str, Any] | None:
    if not content.strip():
        return {}
    if len(content) > _LARGEST:
        return None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], document) if isinstance(document, dict) else None


def _entries(document: Mapping[str, Any]) -> Entries:
    """Return the valid entries. Any other value stays in the file, and stands for no agent."""
    return {name: dict(cast(dict[str, Any], entry)) for name, entry in document.items() if isinstance(entry, dict)}


def _written(document: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only the escaped form can hold
        return json.dumps(document, indent=2).encode() + b"\n"


INBOX: Final = "inbox"
PROCESSED: Final = "processed"


class WaitingMail(NamedTuple):
    """A file in an inbox."""

    name: str
    written_at: float
    """The time of the last change, in seconds since 1970."""
    content: bytes = b""
    problem: str = ""
    """The reason if there is no content."""


class Mailboxes:
    """The mailboxes under a root, which is made with the first folder in it. Safe for several threads and processes."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.registry = RegistryFile(root)

    def prepare(self, agent: str) -> None:
        """Make the folders of an agent."""
        with explained(self._root):
            self._folder(agent, INBOX)
            self._folder(agent, PROCESSED)

    def put(self, agent: str, name: str, content: bytes) -> None:
        """Put a file into an inbox. The file is complete and durable when this returns."""
        with explained(self._root):
            atomic.write(f"{self._folder(agent, INBOX)}/{name}", content)

    def waiting(self, agent: str) -> Sequence[WaitingMail]:
        """Return the files in an inbox that have the name of a message, sorted by name."""
        folder = f"{self._root}/{agent}/{INBOX}"
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return ()
        except OSError:
            with explained(folder):
                raise
        atomic.remove_leftovers(folder, names)
        found = (_read(folder, name) for name in sorted(names) if is_message_name(name))
        return [file for file in found if file is not None]

    def has(self, agent: str, name: str) -> bool:
        """Tell whether a file is in an inbox."""
        return os.path.lexists(f"{self._root}/{agent}/{INBOX}/{name}")

    def settle(self, agent: str, name: str) -> bool:
        """Move a file from the inbox to the processed files; return False if the file is not in the inbox. If a
        processed file has the same name, that file stays, and the moved one gets a number."""
        source = f"{self._root}/{agent}/{INBOX}/{name}"
        with explained(self._root):
            if not self.has(agent, name):
                return False
            folder = self._folder(agent, PROCESSED)
            try:
                atomic.move_all([(source, f"{folder}/{_free_name(folder, name)}")])
            except FileNotFoundError:
                return False  # another process was faster
            return True

    def _folder(self, *names: str) -> str:
        os.makedirs(self._root, mode=0o700, exist_ok=True)
        return atomic.make_folders(self._root, *names)


def is_message_name(name: str) -> bool:
    """Tell whether a file in an inbox has the name of a message."""
    return name.endswith(ENDING) and not name.startswith(".")


def _read(folder: str, name: str) -> WaitingMail | None:
    """Return a file, or None if it is gone."""
    path = f"{folder}/{name}"
    found = entries.read(path)
    if isinstance(found, entries.FileContent):
        return WaitingMail(name, found.status.st_mtime, found.content)
    try:
        return None if found is None else WaitingMail(name, os.lstat(path).st_mtime, problem=entries.PROBLEMS[found])
    except FileNotFoundError:
        return None


def _free_name(folder: str, name: str) -> str:
    number, free = 2, name
    while os.path.lexists(f"{folder}/{free}"):
        free = f"{name.removesuffix(ENDING)}-{number}{ENDING}"
        number += 1
    return free
