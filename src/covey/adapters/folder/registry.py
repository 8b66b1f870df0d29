"""The registry of a mailbox folder: one JSON file with an entry for each agent, which foreign programs rewrite too.

Our processes change the file one at a time, under a lock of the kernel, and keep the entries and fields of foreign
programs. Foreign programs do not know the lock. If one of them overwrites an entry of ours, the entry comes back at the
next heartbeat of its agent.
"""

import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, cast

from covey.adapters.folder import atomic
from covey.adapters.folder.trouble import explained
from covey.core.errors import StoreBusy
from covey.core.formats.foreign_ids import REGISTRY_NAME
from covey.core.json import Json
from covey.disk.file_lock import FileLock
from covey.disk.lining_up import take_within

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


class _Seen(NamedTuple):
    document: dict[str, Any] | None
    """The whole document; None if the file is broken."""
    stamp: tuple[int, int, int] | None
    """Inode, size and time of the file, which tell this state from others; None if there is no file, or it can't be
    opened."""
    mode: int | None = None


class Registry:
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

    def _judge(self) -> _Seen:
        """Read the file. If it is broken and stays so, rename it and return an empty document."""
        ends_at = time.monotonic() + _PATIENCE_S
        while (seen := self._look()).document is None:
            if time.monotonic() > ends_at:
                with suppress(FileNotFoundError):
                    os.rename(self._path, f"{self._path}{BROKEN}{time.time_ns() // 1_000_000}")
                return _Seen({}, None)
            time.sleep(_LOOK_S)
        return seen

    def _look(self) -> _Seen:
        try:
            with open(self._path, "rb", opener=_opener) as file:
                status = os.fstat(file.fileno())
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return _Seen({}, None)
        except (IsADirectoryError, PermissionError):
            return _Seen(None, None)
        return _Seen(_document(content), stamp, status.st_mode & 0o777)

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
