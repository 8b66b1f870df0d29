"""The adapters of a space on NATS: a replica on this machine, and the connection to the server."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from functools import partial

from covey.adapters.nats.blobs import NatsBlobs
from covey.adapters.nats.checkup import ServerCheckup
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.settings import parse_nats, replica_path
from covey.adapters.nats.leases import Leases, NatsLiveness
from covey.adapters.nats.log.log import NatsLog
from covey.adapters.nats.log.snapshots import NatsSnapshots
from covey.adapters.sqlite.engine.files import BUSY_LIMIT_S
from covey.adapters.sqlite.replica.replica import Replica
from covey.adapters.sqlite.replica.state import has_followed
from covey.adapters.system.clock import SystemClock
from covey.core.coroutine import finish
from covey.core.late import late
from covey.core.names import AgentName, Topic
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl
from covey.services.warning import warn

MACHINE_FILE = "machine"

Ring = Callable[[Collection[Topic]], None]


def is_there(url: StoreUrl) -> bool:
    """Tell whether a space exists: this machine has a replica, or the server has the log. Nothing is created."""
    if has_followed(replica_path(url, os.environ)):
        return True
    link = _new_link(url).share()
    log = NatsLog(link, warn)
    try:
        return log.state() is not None
    finally:
        log.close()
        link.release()


def fetch_all(url: StoreUrl, report: Report = report_nothing) -> None:
    """Bring the replica up to date with the log."""
    ports = InlineNats(url, (), report)
    try:
        finish(ports.store.read(_look))
    finally:
        finish(ports.close())


def far_blobs(url: StoreUrl) -> NatsBlobs:
    """Return the blobs of a space, for upkeep and backups."""
    return InlineNats(url, ()).blobs


def server_checkup(url: StoreUrl) -> ServerCheckup:
    """Return the checkup of the servers of a space."""
    return ServerCheckup(parse_nats(url, os.environ))


def opener(url: StoreUrl, path: str, ring: Ring) -> Callable[[], Replica]:
    """Return a function that opens the replica of a space, on a connection of its own."""
    return lambda: _open_replica(_new_link(url), path, ring)


def _new_link(url: StoreUrl) -> Link:
    return Link(parse_nats(url, os.environ))


def _open_replica(link: Link, path: str, ring: Ring, report: Report = report_nothing) -> Replica:
    log = NatsLog(link, warn)
    try:
        return Replica(path, log, NatsSnapshots(link), ring, warn, link.settings.limit_s, report)
    except BaseException:
        log.close()
        raise


class _SharedAdapters:
    """The adapters that programs with and without an event loop share. Each adapter is created, and its module loaded,
    on first use."""

    clock = SystemClock()
    shared_archive = None

    def __init__(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> None:
        self._url = url
        self._report = report
        self._path = replica_path(url, os.environ)
        self._folder = os.path.dirname(self._path)
        self._roots = roots

    @late
    def link(self):
        """The connection that all adapters share."""
        return _new_link(self._url).share()

    waits = True
    """True if lease operations wait for the server."""

    @late
    def leases(self):
        return Leases(self.link, waits=self.waits)

    @late
    def liveness(self):
        from covey.adapters.system.liveness import SystemLiveness

        machine = _machine(self._folder)
        return NatsLiveness(SystemLiveness(self._folder), self.leases, machine, self.link.account.principal)

    @property
    def author(self) -> AgentName | None:
        account = self.link.account
        return None if account.is_owner else AgentName(account.principal)

    @late
    def ids(self):
        from covey.adapters.system.ids import SystemIds

        return SystemIds()

    def _turn_limit_s(self) -> float:
        """Return the time limit of a commit that waits for its turn on this machine: the commit before it may wait for
        the servers."""
        return self.link.settings.limit_s + BUSY_LIMIT_S

    def _far_blobs(self) -> NatsBlobs:
        from covey.adapters.system.blobs import BlobFiles

        return NatsBlobs(self.link, self.leases, BlobFiles(self._folder))


class ThreadedNats(_SharedAdapters):
    """`Ports` for a program with an event loop."""

    waits = False

    @late
    def wire(self):
        from covey.adapters.nats.wire import ListeningWire

        return ListeningWire(self.link)

    @late
    def store(self):
        from covey.adapters.sqlite.replica.replicated_store import ReplicatedStore

        ring = self.wakeups.ring
        open_replica = partial(_open_replica, self.link, self._path, ring, self._report)
        return ReplicatedStore(open_replica, ring=ring, limit_s=self._turn_limit_s())

    @late
    def wakeups(self):
        from covey.adapters.doorbell.runtime_folder import runtime_folder
        from covey.adapters.doorbell.wakeups import DoorbellWakeups

        return DoorbellWakeups(self._path, runtime_folder(os.environ))

    @late
    def blobs(self):
        from covey.adapters.system.threaded_files import ThreadedBlobs

        return ThreadedBlobs(self._far_blobs())

    @late
    def search(self):
        from covey.adapters.sqlite.replica.replicated_store import ReplicatedSearch

        return ReplicatedSearch(self.store, self._path)

    @late
    def files(self):
        from covey.adapters.system.files import StoreFiles
        from covey.adapters.system.threaded_files import ThreadedFiles

        return ThreadedFiles(self._roots, StoreFiles(self._path))

    async def close(self) -> None:
        from asyncio import to_thread

        made = vars(self)  # a late property is stored here on first use
        async with AsyncExitStack() as steps:  # the last step runs first, and a failed step does not skip the others
            if "link" in made:
                steps.push_async_callback(to_thread, self.link.release)
            if "liveness" in made:
                steps.push_async_callback(to_thread, self.liveness.close)
            if "store" in made:
                steps.push_async_callback(self.store.close)
            if "search" in made:
                steps.push_async_callback(self.search.close)
            if "wakeups" in made:
                steps.push_async_callback(self.wakeups.close)


class InlineNats(_SharedAdapters):
    """`Ports` in the calling thread."""

    @late
    def wire(self):
        from covey.adapters.nats.wire import NatsWire

        return NatsWire(self.link)

    @late
    def store(self):
        from covey.adapters.sqlite.replica.replica import ReplicaStore

        replica = _open_replica(self.link, self._path, self._ring, self._report)
        return ReplicaStore(replica, ring=self._ring, limit_s=self._turn_limit_s())

    @late
    def wakeups(self):
        from covey.adapters.doorbell.ringer import RingOnly
        from covey.adapters.doorbell.runtime_folder import runtime_folder

        return RingOnly(self._path, runtime_folder(os.environ))

    @late
    def blobs(self):
        return self._far_blobs()

    @late
    def search(self):
        from covey.adapters.sqlite.search.search import SqliteSearch

        finish(self.store.read(_look))
        return SqliteSearch(self._path, self._report)

    @late
    def files(self):
        from covey.adapters.system.files import RootedFiles, StoreFiles

        return RootedFiles(self._roots, StoreFiles(self._path))

    def _ring(self, topics: Collection[Topic]) -> None:
        self.wakeups.ring(topics)

    async def close(self) -> None:
        made = vars(self)
        if "wakeups" in made:
            await self.wakeups.close()
        if "search" in made:
            await self.search.close()
        if "store" in made:
            await self.store.close()
        if "liveness" in made:
            self.liveness.close()
        if "link" in made:
            self.link.release()


def _machine(folder: str) -> str:
    """Return this machine's name within the space: that of the folder whose files its processes share."""
    file = os.path.join(folder, MACHINE_FILE)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    whole = f"{file}-{os.getpid()}"
    if not os.path.exists(file):
        with open(whole, "w", encoding="ascii") as new:
            new.write(os.urandom(8).hex())
        try:
            os.link(whole, file)  # atomic, and only if there is none
        except FileExistsError:
            pass
        finally:
            os.unlink(whole)
    with open(file, encoding="ascii") as kept:
        return kept.read()


async def _look(_transaction: object) -> None:
    """Do nothing: the read itself brings the replica up to date."""
