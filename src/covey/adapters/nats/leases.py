"""Leases on a NATS server, and liveness across machines by leases."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from covey.adapters.nats.client.link import Link, call_with_retries
from covey.adapters.nats.client.requests import ask, fetched, from_leader, publish, subscribed, surely_last_of
from covey.adapters.nats.client.retries import Retries, RetriesExhausted
from covey.adapters.nats.log.streams import ensure, lease_config
from covey.core.directory.session import Ancestor, Holder
from covey.core.errors import Unavailable
from covey.core.formats.nats_names import lease_bucket, lease_stream
from covey.ports.directory import Liveness

T = TypeVar("T")

LEASE_S: Final = 30
"""Duration of a lease: other machines treat a process as alive for this time after its last renewal."""
_BEATS: Final = 3
"""Renewals of a lease in that time."""
_PAUSE_S: Final = 0.05
_MOST: Final = 100_000
"""Limit of the keys of other processes that are remembered."""
_OPERATION: Final = "KV-Operation"
_GONE: Final = "DEL"
_NOTED: Final = 4
"""Lifetime of the silence key, in lease durations. A second outage within that time gets no new grace period."""
_SILENCE: Final = "silence"
"""The key that records when a process found that no lease had been renewed for long."""
_MARK_S: Final = 60
"""Lifetime of the marker of a released lease."""
_TTL: Final = "Nats-TTL"
_DROPPED: Final = {_OPERATION: _GONE, _TTL: f"{_MARK_S}s"}
_DROP_S: Final = 2.0
"""Time limit of a release. If the release fails, the lease expires."""


class Leases:
    """The leases of this process, and a view of the leases of other processes, kept up to date by a subscription.

    With `waits`, the key is on the server when `put` and `keep` return. Without it they return at once, for programs
    with an event loop, and the next write to the log waits for the key.
    """

    def __init__(self, link: Link, lease_s: int = LEASE_S, *, waits: bool = True) -> None:
        self._link = link
        self._lease_s = lease_s
        self._waits = waits
        self._stream = lease_stream(link.settings.space)
        self._prefix = f"$KV.{lease_bucket(link.settings.space)}."
        self._kept: set[str] = set()
        self._heard: dict[str, float] = {}
        """Time of the last renewal of each key, by this process's monotonic clock."""
        self._ended: set[str] = set()
        self._stop: Callable[[], None] | None = None
        self._is_there = False

    def put(self, key: str, seconds: int) -> None:
        """Write the key with a lifetime of `seconds`."""
        if self._waits:
            self._call(lambda client, limit_s: self._put(client, key, seconds, limit_s))
        else:
            # Due before this program writes its next record, so that no reader sees a session without its key.
            self._link.owe(lambda client: self._put_patiently(client, key, seconds))

    def keep(self, key: str) -> None:
        """Hold the key until `drop`. After the end of this process the key expires with its lease."""
        self._kept.add(key)
        self.put(key, self._lease_s)
        self._listen()

    def drop(self, key: str) -> None:
        """Release the key. If the server can't be reached, the lease expires."""
        if key in self._kept:
            self._kept.discard(key)
            if self._waits:
                with suppress(Unavailable):
                    self._call(lambda client, limit_s: self._drop(client, key, limit_s), _DROP_S)
            else:
                self._link.begin(lambda client: self._say_dropped(client, key))

    def is_there(self, key: str) -> bool:
        """Tell whether a process holds the key. A recent renewal is trusted without a request to the server."""
        if key in self._ended:
            return False
        if time.monotonic() - self._heard.get(key, float("-inf")) < self._lease_s / 2:
            return True
        self._listen()
        return self._call(lambda client, limit_s: self._look(client, key, limit_s))

    def keys(self, pattern: str) -> list[str]:
        """Return the keys that match a NATS subject pattern, such as `*.hold.*`."""
        return self._call(lambda client, limit_s: self._keys(client, pattern, limit_s))

    @contextmanager
    def kept(self, what: str) -> Generator[None]:
        """Hold a new key while the context is open: `<principal>.<what>.<random>`."""
        key = f"{self._link.account.principal}.{what}.{os.urandom(8).hex()}"
        self.keep(key)
        try:
            yield
        finally:
            self.drop(key)

    def until_gone(self, pattern: str) -> None:
        """Block until no key matches the pattern; raise Unavailable if that takes longer than a lease plus the time
        limit of the settings."""
        end = time.monotonic() + self._lease_s + self._link.settings.limit_s
        while self.keys(pattern):
            if time.monotonic() > end:
                raise Unavailable(f"the lease {pattern} did not end in {self._lease_s} s", pattern=pattern)
            time.sleep(_PAUSE_S)

    def close(self) -> None:
        """Release all keys and stop listening."""
        for key in [*self._kept]:
            self.drop(key)
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _listen(self) -> None:
        if self._stop is None:
            self._stop = self._link.begin(self._live)

    async def _live(self, client: Client) -> None:
        """Follow the leases of other processes, and renew those of this one. After a reconnect the renewal is
        immediate."""
        hurry = asyncio.Event()
        forget = self._link.on_reconnect(hurry.set)
        hearing = await subscribed(client, f"{self._prefix}>", self._hear)
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(hurry.wait(), self._lease_s / _BEATS)
                hurry.clear()
                renewals = [self._renew(client, key) for key in [*self._kept]]
                await asyncio.gather(*renewals, return_exceptions=True)  # a failed renewal is retried at the next beat
        finally:
            forget()
            with suppress(Error):
                await hearing.unsubscribe()

    async def _hear(self, message: Msg) -> None:
        key = message.subject.removeprefix(self._prefix)
        if max(len(self._heard), len(self._ended)) > _MOST:
            self._heard.clear()  # unknown keys are looked up on the server
            self._ended.clear()
        if (message.headers or {}).get(_OPERATION) == _GONE:
            self._heard.pop(key, None)
            self._ended.add(key)
        else:
            self._heard[key] = time.monotonic()

    def _call(self, work: Callable[[Client, float], Coroutine[Any, Any, T]], limit_s: float | None = None) -> T:
        settings = self._link.settings

        async def attempt(client: Client, limit_s: float) -> T:
            await self._ensure(client)
            return await work(client, limit_s)

        return call_with_retries(self._link, attempt, min(limit_s or settings.limit_s, settings.limit_s))

    async def _ensure(self, client: Client) -> None:
        if not self._is_there:
            settings = self._link.settings
            await ensure(client, lease_config(settings.space), settings, self._link.account)
            self._is_there = True

    async def _renew(self, client: Client, key: str) -> None:
        """Renew a key, and confirm that the server stored it: a server that is cut off from its cluster accepts a
        message and does not keep it. If that fails for the duration of a lease, the next beat tries again."""

        async def attempt(limit_s: float) -> None:
            if key in self._kept:  # or the key was released in the meantime
                await self._put(client, key, self._lease_s, limit_s)

        await self._insist(client, attempt, self._lease_s)

    async def _put_patiently(self, client: Client, key: str, seconds: int) -> None:
        await self._insist(
            client, lambda limit_s: self._put(client, key, seconds, limit_s), self._link.settings.limit_s
        )

    async def _insist(
        self, client: Client, attempt: Callable[[float], Coroutine[Any, Any, None]], limit_s: float
    ) -> None:
        async def whole(limit_s: float) -> None:
            await self._ensure(client)
            await attempt(limit_s)

        with suppress(Error, OSError, TimeoutError, Unavailable, RetriesExhausted):
            await Retries(client, limit_s, _nothing).insist(whole)

    async def _say_dropped(self, client: Client, key: str) -> None:
        with suppress(Error, OSError):
            await client.publish(f"{self._prefix}{key}", b"", headers=_DROPPED)

    async def _put(self, client: Client, key: str, seconds: int, limit_s: float) -> None:
        await publish(client, f"{self._prefix}{key}", b"", {_TTL: f"{seconds}s"}, limit_s)

    async def _drop(self, client: Client, key: str, limit_s: float) -> None:
        await publish(client, f"{self._prefix}{key}", b"", _DROPPED, limit_s)

    async def _look(self, client: Client, key: str, limit_s: float) -> bool:
        found = await surely_last_of(client, self._stream, f"{self._prefix}{key}", limit_s)
        if found is not None:
            return found.headers.get(_OPERATION) != _GONE
        return await self._may_be_back(client, limit_s)

    async def _may_be_back(self, client: Client, limit_s: float) -> bool:
        """Tell whether a missing lease may have expired only because the servers were down. If no process has renewed
        any lease, the servers were down, and every process gets one lease duration to renew."""
        info = await ask(client, f"STREAM.INFO.{self._stream}", None, limit_s)
        now = datetime.fromisoformat(info["ts"])
        body = {"seq": 1, "next_by_subj": f"{self._prefix}*.{_SILENCE}"}
        noted = await from_leader(client, self._stream, body, limit_s)
        if noted is not None:
            return (now - datetime.fromisoformat(noted.at)).total_seconds() < self._lease_s
        newest = datetime.fromisoformat(info["state"]["last_ts"]) if info["state"]["messages"] else None
        if newest is not None and (now - newest).total_seconds() <= self._lease_s:
            return False
        await self._put(client, f"{self._link.account.principal}.{_SILENCE}", _NOTED * self._lease_s, limit_s)
        return True

    async def _keys(self, client: Client, pattern: str, limit_s: float) -> list[str]:
        body = {"seq": 1, "next_by_subj": f"{self._prefix}{pattern}", "batch": 256}
        found = await fetched(client, self._stream, body, limit_s)
        return [s.subject.removeprefix(self._prefix) for s in found if s.headers.get(_OPERATION) != _GONE]


def _nothing() -> None:
    return


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
