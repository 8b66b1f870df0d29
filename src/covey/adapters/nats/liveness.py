"""Liveness across machines: local processes by kernel locks, remote processes by leases."""

import re
from collections.abc import Sequence
from typing import Final

from covey.adapters.nats.leases import Leases
from covey.core.directory.ancestry import Ancestor
from covey.core.directory.session import Holder
from covey.ports.directory import Liveness

HOST_LEASE_S: Final = 3600
"""Time for which a machine counts as alive after the last command on it that looked up its client. Between its hooks, a
client's session has no process that could renew a lease."""
_LOCK: Final = re.compile(r"(?P<host>[A-Za-z0-9_-]{1,64}\.[0-9a-f]{16})\.(?P<own>[0-9a-f]{32})")
_STARTED: Final = re.compile(r"(?P<host>[A-Za-z0-9_-]{1,64}\.[0-9a-f]{16})\.(?P<own>.*)")


class NatsLiveness:
    """`Liveness` of the processes of a space on many machines.

    `system` judges the processes of this machine: its locks are in the folder of the replica that they share. `machine`
    is the name of that folder, 16 hex digits. Locks and process start marks carry `machine` and the holder's principal,
    so that an agent cannot hold a lock in another agent's name.
    """

    def __init__(self, system: Liveness, leases: Leases, machine: str, principal: str) -> None:
        self._system = system
        self._leases = leases
        self._host = f"{principal}.{machine}"
        self._lock: str | None = None

    def hold(self) -> Holder:
        own = self._system.hold().lock
        lock = f"{self._host}.{own}"
        if lock != self._lock:
            self._leases.keep(lock)
            self._lock = lock
        return Holder(lock=lock)

    def process(self, pid: int) -> Holder | None:
        holder = self._system.process(pid)
        if holder is None:
            return None
        self._leases.put(f"{self._host}.host", HOST_LEASE_S)
        return self._placed(holder)

    def ancestors(self) -> Sequence[Ancestor]:
        found = self._system.ancestors()
        self._leases.put(f"{self._host}.host", HOST_LEASE_S)
        return [ancestor._replace(holder=self._placed(ancestor.holder)) for ancestor in found]

    def is_held(self, holder: Holder) -> bool:
        if holder.lock is not None:
            match = _LOCK.fullmatch(holder.lock)
            if match is None:
                return False
            if match["host"] == self._host:
                return self._system.is_held(Holder(lock=match["own"]))
            return self._leases.is_there(holder.lock)
        match = _STARTED.fullmatch(holder.started or "")
        if match is None or holder.pid is None:
            return False
        if match["host"] == self._host:
            return self._system.is_held(Holder(pid=holder.pid, started=match["own"]))
        return self._leases.is_there(f"{match['host']}.host")

    def close(self) -> None:
        self._leases.close()
        self._system.close()
        self._lock = None

    def _placed(self, holder: Holder) -> Holder:
        return holder._replace(started=f"{self._host}.{holder.started}")
