"""The engine `sqlite:PATH`: one file, which the processes of one machine share."""

import os
from collections.abc import Collection, Sequence
from typing import Final, Literal

import covey.ports as ports
from covey.adapters.system.clock import SystemClock
from covey.core.errors import Invalid
from covey.core.late import late
from covey.core.names import Topic
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl, parse_options, split_store_url
from covey.engines.engine import EngineCapabilities

SYNCHRONOUS: Final = ("full", "normal")


class SqliteEngine:
    usage = "sqlite:PATH"
    capabilities = EngineCapabilities(is_shared=True, is_lasting=True)

    def parse(self, text: str) -> StoreUrl:
        return parse_path(text, "a file: sqlite:PATH", {"synchronous": SYNCHRONOUS})

    def absolute(self, url: StoreUrl) -> StoreUrl:
        return url._replace(place=absolute_path(url.place))

    def for_new(self, url: StoreUrl) -> StoreUrl:
        return url

    @late
    def care(self) -> "ports.Care":
        from covey.engines.sqlite_care import SqliteCare

        return SqliteCare(self)

    def is_there(self, url: StoreUrl) -> bool:
        return os.path.lexists(self.ledger_path(url))

    def has_messages(self, url: StoreUrl) -> bool:
        return self.is_there(url)

    def ledger_path(self, url: StoreUrl) -> str:
        return absolute_path(url.place)

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        del report  # the search index is updated on its own thread, while the space is in use
        from covey.adapters.doorbell.runtime_folder import runtime_folder
        from covey.adapters.doorbell.wakeups import DoorbellWakeups
        from covey.adapters.sqlite.transactions.group_commit import GroupCommit
        from covey.adapters.system.files import StoreFiles
        from covey.adapters.system.liveness import SystemLiveness
        from covey.adapters.system.threaded_files import ThreadedFiles

        path = self.ledger_path(url)
        wakeups = DoorbellWakeups(path, runtime_folder(os.environ))
        store = GroupCommit(path, ring=wakeups.ring, synchronous=synchronous(url))
        files = ThreadedFiles(roots, StoreFiles(path))
        return adapters(path, store, wakeups, SystemLiveness(os.path.dirname(path)), files)

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        return InlinePorts(self.ledger_path(url), url, roots, report)


class InlinePorts:
    """`Ports` in the calling thread. Each adapter is created, and its module loaded, on first use."""

    clock = SystemClock()
    wire = None
    author = None

    def __init__(self, path: str, url: StoreUrl, roots: Sequence[str], report: Report) -> None:
        self._path = path
        self._folder = os.path.dirname(path)
        self._url = url
        self._roots = roots
        self._report = report

    @late
    def store(self) -> "ports.Store":
        return self._ledger()

    def _ledger(self):
        from covey.adapters.sqlite.transactions.store import SqliteStore

        return SqliteStore(self._path, ring=self._ring, synchronous=synchronous(self._url))

    @late
    def shared_archive(self) -> "ports.SharedArchive | None":
        return None

    @late
    def wakeups(self):
        from covey.adapters.doorbell.ringer import RingOnly
        from covey.adapters.doorbell.runtime_folder import runtime_folder

        return RingOnly(self._path, runtime_folder(os.environ))

    @late
    def blobs(self):
        from covey.adapters.system.blobs import BlobFiles

        return BlobFiles(self._folder)

    @late
    def search(self):
        from covey.adapters.sqlite.search.search import SqliteSearch

        return SqliteSearch(self._path, self._report)

    @late
    def liveness(self):
        from covey.adapters.system.liveness import SystemLiveness

        return SystemLiveness(self._folder)

    @late
    def files(self):
        from covey.adapters.system.files import RootedFiles

        return RootedFiles(self._roots, self._store_files())

    @late
    def ids(self):
        from covey.adapters.system.ids import SystemIds

        return SystemIds()

    def _store_files(self):
        from covey.adapters.system.files import StoreFiles

        return StoreFiles(self._path)

    def _ring(self, topics: Collection[Topic]) -> None:
        self.wakeups.ring(topics)

    async def close(self) -> None:
        made = vars(self)  # a late property is stored here on first use
        if "wakeups" in made:
            await self.wakeups.close()
        if "search" in made:
            await self.search.close()
        if "store" in made:
            await self.store.close()
        if "liveness" in made:
            self.liveness.close()


def adapters(
    path: str,
    store: "ports.Store",
    wakeups: "ports.Wakeups",
    liveness: "ports.Liveness",
    files: "ports.Files",
    shared_archive: "ports.SharedArchive | None" = None,
) -> "ports.Ports":
    """Return the adapters of a space whose ledger is the file `path`, for a program with an event loop."""
    from covey.adapters.sqlite.search.threaded import ThreadedSearch
    from covey.adapters.system.ids import SystemIds
    from covey.adapters.system.threaded_files import ThreadedBlobs
    from covey.engines.adapters import Adapters

    return Adapters(
        store=store,
        wakeups=wakeups,
        blobs=ThreadedBlobs(os.path.dirname(path)),
        search=ThreadedSearch(path),
        liveness=liveness,
        files=files,
        clock=SystemClock(),
        ids=SystemIds(),
        shared_archive=shared_archive,
    )


def parse_path(text: str, wanted: str, options: dict[str, tuple[str, ...]]) -> StoreUrl:
    """Parse a URL whose place is a path, and check its options against the allowed values."""
    scheme, place, query = split_store_url(text)
    if not place or "\0" in place:
        raise Invalid("store URL", text, f"name {wanted}")
    return StoreUrl(scheme or "", place, parse_options(query, options))


def absolute_path(path: str) -> str:
    """Return an absolute path, with `~` expanded."""
    return os.path.abspath(os.path.expanduser(path))


def synchronous(url: StoreUrl) -> Literal["full", "normal"]:
    """Return the value of SQLite's `synchronous` for commits."""
    return "normal" if url.options.get("synchronous") == "normal" else "full"


ENGINE: Final = SqliteEngine()
