"""From a URL to adapters: the only place that knows them all, and imports them as late as it can."""

import os
from collections.abc import Collection, Sequence
from typing import Literal, TextIO

import covey.ports as ports
from covey.adapters.system.clock import SystemClock
from covey.core.errors import ExtraMissing
from covey.core.ids import Topic
from covey.core.late import late
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import STORE_FILE, STORE_FOLDER, Engine, StoreUrl, parse_store_url

FILE_OPTIONS = ("cache", "creds", "nkey", "tls_ca", "tls_cert", "tls_key")
"""The options of a store URL that name files."""
LAYOUT_FILE = "layout"
"""Beside the store, where others share its folder."""


def locate(url: str | None = None) -> StoreUrl:
    """Return where a space is: the URL, COVEY_STORE, the nearest .covey upwards, or the one in the home directory."""
    given = url if url is not None else os.environ.get("COVEY_STORE")
    if given:
        return parse_store_url(given)
    folder = os.getcwd()
    while True:
        candidate = os.path.join(folder, STORE_FOLDER, STORE_FILE)
        if os.path.exists(candidate):
            is_shared = os.path.exists(os.path.join(folder, STORE_FOLDER, LAYOUT_FILE))
            return StoreUrl(Engine.FILES, folder, {}) if is_shared else StoreUrl(Engine.SQLITE, candidate, {})
        parent = os.path.dirname(folder)
        if parent == folder:
            return StoreUrl(Engine.SQLITE, os.path.join(os.path.expanduser("~"), STORE_FOLDER, STORE_FILE), {})
        folder = parent


def is_there(url: StoreUrl) -> bool:
    """Tell whether there is a space, without making anything. A path that names something else counts: opening it says
    what is wrong."""
    if url.engine is Engine.MEMORY:
        return False  # it begins, empty, with whoever opens it
    if url.engine is Engine.NATS:
        return nats_wiring().is_there(url)
    return os.path.lexists(ledger_path(url))


def is_fallback(url: StoreUrl) -> bool:
    """Tell whether this is the space of the home folder, and the working directory is another folder."""
    home_folder = os.path.realpath(os.path.expanduser("~"))
    path = os.path.join(home_folder, STORE_FOLDER, STORE_FILE)
    is_at_home = url.engine in (Engine.SQLITE, Engine.FILES) and os.path.realpath(ledger_path(url)) == path
    return is_at_home and os.path.realpath(os.getcwd()) != home_folder


def connect(url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
    """Return the adapters of a space for a program with an event loop. What has to come first, and may take long, is
    reported, on any thread."""
    if url.engine is Engine.MEMORY:
        return _memory(roots)
    if url.engine is Engine.NATS:
        return nats_wiring().connect_nats(url, roots, report)
    from covey.adapters.blobfiles.threaded import ThreadedBlobs
    from covey.adapters.doorbell.folders import runtime_folder
    from covey.adapters.doorbell.listen import DoorbellWakeups
    from covey.adapters.sqlite.group import GroupCommit
    from covey.adapters.sqlite.search_lane import ThreadedSearch
    from covey.adapters.system.ids import SystemIds
    from covey.adapters.system.liveness import SystemLiveness
    from covey.adapters.system.threaded_files import ThreadedFiles
    from covey.services.adapters import Adapters

    path = ledger_path(url)
    folder = os.path.dirname(path)
    layout = prepared(url) if url.engine is Engine.FILES else None
    wakeups: ports.Wakeups = DoorbellWakeups(path, runtime_folder(os.environ))
    liveness = SystemLiveness(folder)
    if layout is None:
        store: ports.Store = GroupCommit(path, ring=wakeups.ring, synchronous=_synchronous(url))
    else:
        store, wakeups = _mirrored(url, layout, roots, wakeups, liveness, report)
    return Adapters(
        store=store,
        wakeups=wakeups,
        blobs=ThreadedBlobs(folder),
        search=ThreadedSearch(path),
        liveness=liveness,
        files=ThreadedFiles(roots, _store_files(url, layout)),
        clock=SystemClock(),
        ids=SystemIds(),
        shared_archive=shared_archive(url, layout),
    )


def shared_archive(url: StoreUrl, layout: str | None):
    """Return the archive of a folder where other programs archive by moving files; None where there is none."""
    if layout != "dialogue":
        return None
    from covey.adapters.files.claiming import FolderArchive

    return FolderArchive(place_of(url))


def _store_files(url: StoreUrl, layout: str | None):
    """Return the files of a space's store, which are never read as attachments."""
    from covey.adapters.system.store_files import StoreFiles

    if layout is None:
        return StoreFiles(ledger_path(url))
    from covey.adapters.files.shelves import MailFolder
    from covey.core.layout import Layout

    return StoreFiles(ledger_path(url), MailFolder(place_of(url), Layout(layout)))


def _attachments(url: StoreUrl, roots: Sequence[str], layout: str):
    """Return what keeps the files of messages in a shared folder, in the calling thread. Files in that folder can be
    attached, too, if they are not mail: foreign programs put them there."""
    from covey.adapters.blobfiles.blobs import BlobFiles
    from covey.adapters.system.files import RootedFiles
    from covey.services.attachments import Attachments

    files = RootedFiles([*roots, place_of(url)], _store_files(url, layout))
    return Attachments(BlobFiles(os.path.dirname(ledger_path(url))), files)


def _mirrored(
    url: StoreUrl,
    layout: str,
    roots: Sequence[str],
    wakeups: "ports.Wakeups",
    liveness: "ports.Liveness",
    report: Report,
) -> "tuple[ports.Store, ports.Wakeups]":
    """Return a store that is mirrored in a folder, on a thread of its own, and wake-ups that hear when the folder
    changes. A pass has a connection of its own: it never waits for those who wait for it. They have committed without
    waiting for the disk: that is done while what shows it is written."""
    from covey.adapters.files.beside_thread import BesideThread
    from covey.adapters.files.confirming import Confirming, HeldRings
    from covey.adapters.files.folder import FilesFolder
    from covey.adapters.files.passes import ThreadedPasses
    from covey.adapters.files.wakeups import WatchingWakeups
    from covey.adapters.sqlite.group import GroupCommit
    from covey.adapters.sqlite.log_sync import LogSync
    from covey.adapters.sqlite.store import SqliteStore
    from covey.adapters.system.ids import SystemIds
    from covey.core.drive import finish
    from covey.core.layout import Layout
    from covey.services.mirror import Mirror
    from covey.services.mirrored_store import MirroredStore
    from covey.services.updates import Desk

    path, synchronous = ledger_path(url), _synchronous(url)
    rings = HeldRings(wakeups.ring)
    store = GroupCommit(path, ring=rings.ring, synchronous=synchronous)
    log = LogSync(store.path, store.condition)
    beside = BesideThread(f"covey {path}")
    confirming = Confirming(log if synchronous == "full" else store.condition.check_committed, rings, beside)
    folder = FilesFolder(place_of(url), Layout(layout), beside, confirming)
    ledger = SqliteStore(path, ring=wakeups.ring, synchronous=synchronous)
    desk = Desk(SystemIds(), liveness)
    mirror = Mirror(ledger, folder, SystemClock(), desk, report=report, attachments=_attachments(url, roots, layout))

    async def let_go() -> None:
        await mirror.close()
        await ledger.close()
        log.close()

    passes = ThreadedPasses(mirror, lambda: finish(let_go()), confirming)
    return MirroredStore(store, folder, passes), WatchingWakeups(wakeups, folder, passes.run)


def prepared(url: StoreUrl) -> str:
    """Return the layout of a folder that others share, which is made ready."""
    from covey.adapters.files.ground import chosen, prepare

    root = place_of(url)
    layout = chosen(root, url.options.get("layout"))
    prepare(root, layout)
    return layout


def connect_inline(url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
    """Return the adapters of a space for a short-lived program: everything happens in the calling thread and nothing
    ever suspends. It can ring, but not listen. What has to come first, and may take long, is reported."""
    if url.engine is Engine.NATS:
        return nats_wiring().InlineNats(url, roots, report)
    return _memory(roots) if url.engine is Engine.MEMORY else _Inline(url, roots, report)


class _Inline:
    """`Ports` in the calling thread. Each adapter is made, and its module loaded, when it is first used."""

    clock = SystemClock()
    wire = None
    author = None

    def __init__(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> None:
        self._report = report
        self._path = ledger_path(url)
        self._folder = os.path.dirname(self._path)
        self._synchronous: Literal["full", "normal"] = _synchronous(url)
        self._roots = roots
        self._url = url

    @late
    def store(self):
        from covey.adapters.sqlite.store import SqliteStore

        layout = prepared(self._url) if self._url.engine is Engine.FILES else None
        store = SqliteStore(self._path, ring=self._ring, synchronous=self._synchronous)
        return store if layout is None else self._mirrored(store, layout)

    def _mirrored(self, store: "ports.Store", layout: str):
        from covey.adapters.files.folder import FilesFolder
        from covey.core.layout import Layout
        from covey.services.mirrored_store import MirroredStore, OwnPasses

        folder = FilesFolder(place_of(self._url), Layout(layout))

        def mirror():
            from covey.services.mirror import Mirror  # here because it takes time to load, and there may be no news
            from covey.services.updates import Desk

            attachments = _attachments(self._url, self._roots, layout)
            desk = Desk(self.ids, self.liveness)
            return Mirror(store, folder, self.clock, desk, report=self._report, attachments=attachments)

        return MirroredStore(store, folder, OwnPasses(folder, mirror))

    @late
    def shared_archive(self):
        return shared_archive(self._url, prepared(self._url)) if self._url.engine is Engine.FILES else None

    @late
    def wakeups(self):
        from covey.adapters.doorbell.folders import runtime_folder
        from covey.adapters.doorbell.ring_only import RingOnly

        return RingOnly(self._path, runtime_folder(os.environ))

    @late
    def blobs(self):
        from covey.adapters.blobfiles.blobs import BlobFiles

        return BlobFiles(self._folder)

    @late
    def search(self):
        from covey.adapters.sqlite.search import SqliteSearch

        return SqliteSearch(self._path, self._report)

    @late
    def liveness(self):
        from covey.adapters.system.liveness import SystemLiveness

        return SystemLiveness(self._folder)

    @late
    def files(self):
        from covey.adapters.system.files import RootedFiles

        layout = prepared(self._url) if self._url.engine is Engine.FILES else None
        return RootedFiles(self._roots, _store_files(self._url, layout))

    @late
    def ids(self):
        from covey.adapters.system.ids import SystemIds

        return SystemIds()

    def _ring(self, topics: Collection[Topic]) -> None:
        self.wakeups.ring(topics)

    async def close(self) -> None:
        made = vars(self)  # where a late property stands once it was used
        if "wakeups" in made:
            await self.wakeups.close()
        if "search" in made:
            await self.search.close()
        if "store" in made:
            await self.store.close()
        if "liveness" in made:
            self.liveness.close()


def carriers(stream: TextIO):
    """Return what makes the adapter of a channel, which writes to the stream or posts to where its URL leads."""
    from covey.adapters.console import ConsoleChannel
    from covey.adapters.webhook import WebhookChannel
    from covey.core.channel import ChannelConfig, ChannelKind

    def carrier(config: ChannelConfig):
        is_console = config.kind is ChannelKind.CONSOLE
        return ConsoleChannel(stream) if is_console else WebhookChannel(config, SystemClock().now)

    return carrier


def whole_file(file: str, *, replace: bool):
    """Return a file that gets its name when it is whole."""
    from covey.adapters.archive.files import whole_file as new

    return new(file, replace=replace)


def mailboxes(root: str):
    """Return the mailboxes in a folder, for programs that have no ledger, with a clock and what makes ids."""
    from covey.adapters.files.mailboxes import Mailboxes
    from covey.adapters.system.ids import SystemIds

    return Mailboxes(root), SystemClock(), SystemIds()


def launcher():
    """Return what runs programs. It is bound to the event loop on which it is first used, and has to be closed."""
    from covey.adapters.process.launcher import ProcessLauncher

    return ProcessLauncher()


def everywhere(url: StoreUrl) -> StoreUrl:
    """Return where a space is in words that mean the same in every folder."""
    if url.engine in (Engine.SQLITE, Engine.FILES):
        return url._replace(place=place_of(url))
    files = {name: os.path.abspath(url.options[name]) for name in FILE_OPTIONS if name in url.options}
    return url._replace(options={**url.options, **files})


def home(url: StoreUrl) -> str:
    """Return the folder of a space on this machine, for what belongs to it here."""
    return os.path.dirname(ledger_path(url))


def ledger_path(url: StoreUrl) -> str:
    """Return the file of a ledger on this machine."""
    if url.engine is Engine.NATS:
        from covey.adapters.nats.places import replica_path

        return replica_path(url, os.environ)
    return os.path.abspath(os.path.expanduser(url.file or ""))


def place_of(url: StoreUrl) -> str:
    """Return what a URL names on this machine; for files: the folder that others share."""
    return os.path.abspath(os.path.expanduser(url.place))


def nats_wiring():
    """Return what wires spaces on NATS."""
    try:
        import covey.wiring_nats as wiring_nats
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "nats":
            raise
        raise ExtraMissing("a space on NATS", "nats") from None
    return wiring_nats


def _synchronous(url: StoreUrl) -> Literal["full", "normal"]:
    return "normal" if url.options.get("synchronous") == "normal" else "full"


def _memory(roots: Sequence[str]) -> "ports.Ports":
    """Return a space of its own in this process's memory."""
    from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
    from covey.adapters.system.files import RootedFiles
    from covey.adapters.system.ids import SystemIds
    from covey.adapters.system.store_files import StoreFiles
    from covey.services.adapters import Adapters

    wakeups = MemoryWakeups()
    store = MemoryStore(wakeups.ring)
    return Adapters(
        store=store,
        wakeups=wakeups,
        blobs=MemoryBlobs(),
        search=MemorySearch(store),
        liveness=MemoryLiveness(),
        files=RootedFiles(roots, StoreFiles()),
        clock=SystemClock(),
        ids=SystemIds(),
    )


def new_nats_key():
    """Return a new key for a user of a NATS server: the public one and its seed."""
    from covey.adapters.nats.keys import new_key

    return new_key()


def public_nats_key(file: str) -> str:
    """Return the public key to the seed in a file."""
    from covey.adapters.nats.keys import public_key

    return public_key("key file", file)
