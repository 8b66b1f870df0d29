"""The engine `files:PATH`: like sqlite, with the messages as files in a folder that people and other programs share."""

import os
from collections.abc import Sequence
from typing import Final

import covey.ports as ports
from covey.adapters.system.clock import SystemClock
from covey.core.late import late
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import STORE_FILE, STORE_FOLDER, StoreUrl
from covey.engines.sqlite import (
    SYNCHRONOUS,
    InlinePorts,
    SqliteEngine,
    absolute_path,
    adapters,
    parse_path,
    synchronous,
)

LAYOUTS: Final = ("dialogue", "mailbox")


class FolderEngine(SqliteEngine):
    """An engine whose ledger is in a hidden folder of the shared one."""

    usage = "files:PATH"

    def parse(self, text: str) -> StoreUrl:
        return parse_path(text, "a folder: files:PATH", {"layout": LAYOUTS, "synchronous": SYNCHRONOUS})

    def for_new(self, url: StoreUrl) -> StoreUrl:
        """Add the default layout, unless the URL has one, or the folder exists and may show its layout."""
        if "layout" in url.options or os.path.isdir(url.place):
            return url
        return url._replace(options={**url.options, "layout": "dialogue"})

    @late
    def care(self) -> "ports.Care":
        from covey.engines.folder_care import FolderCare

        return FolderCare(self)

    def has_messages(self, url: StoreUrl) -> bool:
        return os.path.isdir(absolute_path(url.place)) or self.is_there(url)

    def ledger_path(self, url: StoreUrl) -> str:
        return absolute_path(f"{url.place}/{STORE_FOLDER}/{STORE_FILE}")

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        from covey.adapters.doorbell.runtime_folder import runtime_folder
        from covey.adapters.doorbell.wakeups import DoorbellWakeups
        from covey.adapters.system.liveness import SystemLiveness
        from covey.adapters.system.threaded_files import ThreadedFiles

        layout = prepared(url)
        path = self.ledger_path(url)
        doorbell = DoorbellWakeups(path, runtime_folder(os.environ))
        liveness = SystemLiveness(os.path.dirname(path))
        store, wakeups = _mirrored(path, url, layout, roots, doorbell, liveness, report)
        files = ThreadedFiles(roots, _store_files(path, url, layout))
        return adapters(path, store, wakeups, liveness, files, _shared_archive(url, layout))

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        return _InlineFolder(self.ledger_path(url), url, roots, report)


class _InlineFolder(InlinePorts):
    """`Ports` in the calling thread, which read the folder's changes before each operation."""

    @late
    def store(self) -> "ports.Store":
        from covey.adapters.folder.folder import FilesFolder
        from covey.core.formats.layout import Layout
        from covey.services.mirror.store import InlinePasses, MirroredStore

        layout = prepared(self._url)
        store = self._ledger()
        folder = FilesFolder(absolute_path(self._url.place), Layout(layout))

        def mirror():
            from covey.services.mail.filing import NoticePorts
            from covey.services.mirror.mirror import (
                Mirror,  # imported here because it is slow to load, and there may be no changes
            )

            attachments = _attachments(self._path, self._url, self._roots, layout)
            notice_ports = NoticePorts(self.ids, self.liveness)
            return Mirror(store, folder, self.clock, notice_ports, report=self._report, attachments=attachments)

        return MirroredStore(store, folder, InlinePasses(folder, mirror))

    @late
    def shared_archive(self) -> "ports.SharedArchive | None":
        return _shared_archive(self._url, prepared(self._url))

    def _store_files(self):
        return _store_files(self._path, self._url, prepared(self._url))


def prepared(url: StoreUrl) -> str:
    """Prepare a shared folder, and return its layout."""
    from covey.adapters.folder.disk_layout import chosen, prepare

    root = absolute_path(url.place)
    layout = chosen(root, url.options.get("layout"))
    prepare(root, layout)
    return layout


def _shared_archive(url: StoreUrl, layout: str) -> "ports.SharedArchive | None":
    """Return the archive of a folder whose other programs archive by moving files; None for other layouts."""
    if layout != "dialogue":
        return None
    from covey.adapters.folder.shared_archive import FolderArchive

    return FolderArchive(absolute_path(url.place))


def _store_files(path: str, url: StoreUrl, layout: str):
    """Return the files of the store, which are never attached: those of the ledger, and the mail in the folder."""
    from covey.adapters.folder.disk_layout import SharedMail
    from covey.adapters.system.files import StoreFiles
    from covey.core.formats.layout import Layout

    return StoreFiles(path, SharedMail(absolute_path(url.place), Layout(layout)))


def _attachments(path: str, url: StoreUrl, roots: Sequence[str], layout: str):
    """Return the attachments of a shared folder, which work in the calling thread. Files in that folder can be attached
    too, unless they are mail: foreign programs put them there."""
    from covey.adapters.system.blobs import BlobFiles
    from covey.adapters.system.files import RootedFiles
    from covey.services.mail.attachments import Attachments

    files = RootedFiles([*roots, absolute_path(url.place)], _store_files(path, url, layout))
    return Attachments(BlobFiles(os.path.dirname(path)), files)


def _mirrored(
    path: str,
    url: StoreUrl,
    layout: str,
    roots: Sequence[str],
    wakeups: "ports.Wakeups",
    liveness: "ports.Liveness",
    report: Report,
) -> "tuple[ports.Store, ports.Wakeups]":
    """Return a store that is mirrored in a folder on a thread of its own, and wake-ups that watch the folder.

    A mirror pass has its own connection, so it never waits for the commits that wait for it. These commits do not wait
    for the disk: the sync runs while their files are written.
    """
    from covey.adapters.folder.background_thread import BackgroundThread
    from covey.adapters.folder.folder import FilesFolder
    from covey.adapters.folder.passes import DeferredCommitGate, HeldWakeups, ThreadedPasses
    from covey.adapters.folder.wakeups import WatchingWakeups
    from covey.adapters.sqlite.engine.wal import LogSync
    from covey.adapters.sqlite.transactions.group_commit import GroupCommit
    from covey.adapters.sqlite.transactions.store import SqliteStore
    from covey.adapters.system.ids import SystemIds
    from covey.core.coroutine import finish
    from covey.core.formats.layout import Layout
    from covey.services.mail.filing import NoticePorts
    from covey.services.mirror.mirror import Mirror
    from covey.services.mirror.store import MirroredStore

    waits = synchronous(url)
    rings = HeldWakeups(wakeups.ring)
    store = GroupCommit(path, ring=rings.ring, synchronous=waits)
    log = LogSync(store.path, store.condition)
    beside = BackgroundThread(f"covey {path}")
    confirming = DeferredCommitGate(log if waits == "full" else store.condition.check_committed, rings, beside)
    folder = FilesFolder(absolute_path(url.place), Layout(layout), beside, confirming)
    ledger = SqliteStore(path, ring=wakeups.ring, synchronous=waits)
    notice_ports = NoticePorts(SystemIds(), liveness)
    attachments = _attachments(path, url, roots, layout)
    mirror = Mirror(ledger, folder, SystemClock(), notice_ports, report=report, attachments=attachments)

    async def let_go() -> None:
        await mirror.close()
        await ledger.close()
        log.close()

    passes = ThreadedPasses(mirror, lambda: finish(let_go()), confirming)
    return MirroredStore(store, folder, passes), WatchingWakeups(wakeups, folder, passes.run)


ENGINE: Final = FolderEngine()
