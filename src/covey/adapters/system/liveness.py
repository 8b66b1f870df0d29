"""Liveness on one machine: locks that die with their process, and processes by id and start."""

import errno
import os
from collections.abc import Sequence

from covey.adapters.system import own_locks
from covey.adapters.system.other_locks import OtherLocks
from covey.adapters.system.processes import parent_of, started
from covey.core.ancestry import Ancestor
from covey.core.errors import StoreFull, StoreReadOnly, Unavailable
from covey.core.session import Holder
from covey.core.store_url import LIVE_FOLDER


class SystemLiveness:
    """`Liveness` of the processes that share a folder.

    All objects of one process with the same folder share one lock: it is let go when the last of them that held it is
    closed. A forked child is a process of its own: it holds nothing until it asks.

    Nothing in the process besides this package may open the files in `<folder>/live`, not even to copy them: closing
    one drops its lock.
    """

    def __init__(self, folder: str) -> None:
        self._folder = f"{os.path.realpath(folder)}/{LIVE_FOLDER}"
        self._others = OtherLocks(self._folder)

    def hold(self) -> Holder:
        known = own_locks.own_name(self._folder)
        try:
            name = own_locks.take(self._folder, self)
        except OSError as error:
            raise _unavailable(error, self._folder) from error
        if name != known:
            self._others.sweep(name)
        return Holder(lock=name)

    def process(self, pid: int) -> Holder | None:
        start = started(pid)
        return None if start is None else Holder(pid=pid, started=start)

    def ancestors(self) -> Sequence[Ancestor]:
        found: list[Ancestor] = []
        pid = os.getpid()
        while (parent := parent_of(pid)) is not None and (holder := self.process(parent.pid)) is not None:
            found.append(Ancestor(holder, parent.name, parent.program))
            pid = parent.pid
        return found

    def is_held(self, holder: Holder) -> bool:
        if holder.lock is not None:
            return self._others.is_held(holder.lock)
        if holder.pid is None or holder.started is None:
            return False
        return started(holder.pid) == holder.started

    def close(self) -> None:
        own_locks.drop(self._folder, self)
        self._others.forget()


def _unavailable(error: OSError, path: str) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(path)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StoreReadOnly(path, error.strerror or str(error))
    return Unavailable(f"{path} can't be locked: {error.strerror}", path=path)
