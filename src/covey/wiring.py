"""From a URL to adapters: the only place that knows them all, and imports them as late as it can."""

import os
from collections.abc import Sequence
from typing import Literal

from covey.adapters.system.clock import SystemClock
from covey.adapters.system.files import RootedFiles
from covey.adapters.system.ids import SystemIds
from covey.adapters.system.liveness import SystemLiveness
from covey.core.store_url import Engine, StoreUrl, parse_store_url
from covey.services.space import Ports

STORE_FILE = "covey.db"
STORE_FOLDER = ".covey"


def locate(url: str | None = None) -> StoreUrl:
    """Return where a space is: the URL, COVEY_STORE, the nearest .covey upwards, or the one in the home directory."""
    given = url if url is not None else os.environ.get("COVEY_STORE")
    if given:
        return parse_store_url(given)
    folder = os.getcwd()
    while True:
        candidate = os.path.join(folder, STORE_FOLDER, STORE_FILE)
        if os.path.exists(candidate):
            return StoreUrl(Engine.SQLITE, candidate, {})
        parent = os.path.dirname(folder)
        if parent == folder:
            return StoreUrl(Engine.SQLITE, os.path.join(os.path.expanduser("~"), STORE_FOLDER, STORE_FILE), {})
        folder = parent


def connect(url: StoreUrl, roots: Sequence[str]) -> Ports:
    """Return the adapters of a space for a program with an event loop."""
    if url.engine is Engine.MEMORY:
        return _memory(roots)
    from covey.adapters.blobfiles.threaded import ThreadedBlobs
    from covey.adapters.doorbell.folders import runtime_folder
    from covey.adapters.doorbell.listen import DoorbellWakeups
    from covey.adapters.sqlite.group import GroupCommit
    from covey.adapters.sqlite.search_lane import ThreadedSearch
    from covey.adapters.system.threaded_files import ThreadedFiles

    path = os.path.abspath(os.path.expanduser(url.place))
    folder = os.path.dirname(path)
    wakeups = DoorbellWakeups(path, runtime_folder(os.environ))
    return Ports(
        store=GroupCommit(path, ring=wakeups.ring, synchronous=_synchronous(url)),
        wakeups=wakeups,
        blobs=ThreadedBlobs(folder),
        search=ThreadedSearch(path),
        liveness=SystemLiveness(folder),
        files=ThreadedFiles(roots),
        clock=SystemClock(),
        ids=SystemIds(),
    )


def connect_inline(url: StoreUrl, roots: Sequence[str]) -> Ports:
    """Return the adapters of a space for a short-lived program: everything happens in the calling thread and nothing
    ever suspends. It can ring, but not listen."""
    if url.engine is Engine.MEMORY:
        return _memory(roots)
    from covey.adapters.blobfiles.blobs import BlobFiles
    from covey.adapters.doorbell.folders import runtime_folder
    from covey.adapters.doorbell.ring_only import RingOnly
    from covey.adapters.sqlite.search import SqliteSearch
    from covey.adapters.sqlite.store import SqliteStore

    path = os.path.abspath(os.path.expanduser(url.place))
    folder = os.path.dirname(path)
    wakeups = RingOnly(path, runtime_folder(os.environ))
    return Ports(
        store=SqliteStore(path, ring=wakeups.ring, synchronous=_synchronous(url)),
        wakeups=wakeups,
        blobs=BlobFiles(folder),
        search=SqliteSearch(path),
        liveness=SystemLiveness(folder),
        files=RootedFiles(roots),
        clock=SystemClock(),
        ids=SystemIds(),
    )


def _synchronous(url: StoreUrl) -> Literal["full", "normal"]:
    return "normal" if url.options.get("synchronous") == "normal" else "full"


def _memory(roots: Sequence[str]) -> Ports:
    """Return a space of its own in this process's memory."""
    from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups

    wakeups = MemoryWakeups()
    store = MemoryStore(wakeups.ring)
    return Ports(
        store=store,
        wakeups=wakeups,
        blobs=MemoryBlobs(),
        search=MemorySearch(store),
        liveness=MemoryLiveness(),
        files=RootedFiles(roots),
        clock=SystemClock(),
        ids=SystemIds(),
    )
