"""What looks after a space, wired: what examines, shows, cleans, keeps, restores and salvages it."""

import os
from collections.abc import Callable

from covey.adapters.system.clock import SystemClock
from covey.core.errors import Invalid, SpaceMissing
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import STORE_FOLDER, Engine, StoreUrl
from covey.ports.space import Ports
from covey.wiring import connect_inline, is_there, ledger_path, nats_wiring, place_of, prepared


def checkups_beneath(url: StoreUrl):
    """Return what examines a space beneath its records, and opens nothing before it is asked to. The types are
    inferred: naming them would load what other programs do not need."""
    if url.engine is Engine.MEMORY:
        return ()
    from covey.adapters.doorbell.checkup import DoorbellCheckup
    from covey.adapters.doorbell.folders import runtime_folder
    from covey.adapters.sqlite.checkup import StoreCheckup
    from covey.adapters.system.folder_checkup import FolderCheckup

    path = ledger_path(url)
    here = (FolderCheckup(path, STORE_FOLDER), DoorbellCheckup(path, runtime_folder(os.environ)))
    if url.engine is Engine.NATS:
        from covey.adapters.nats.checkup import ServerCheckup
        from covey.adapters.nats.settings import parse_nats

        server = ServerCheckup(parse_nats(url, os.environ))
        # A machine that has not used the space has nothing of it yet, and nothing is wrong with that.
        return (server, StoreCheckup(path), *here) if os.path.exists(path) else (server, *here)
    if url.engine is not Engine.FILES:
        return (StoreCheckup(path), *here)
    from covey.adapters.files.checkup import MirrorCheckup
    from covey.adapters.files.ground import chosen

    root = place_of(url)
    return (StoreCheckup(path), *here, MirrorCheckup(root, chosen(root, url.options.get("layout"))))


def checkups_beside(url: StoreUrl, ports: Ports):
    """Return what examines that which goes with the records of a space: the index and the contents of files."""
    if url.engine is Engine.MEMORY:
        return ()
    from covey.adapters.blobfiles.checkup import BlobsCheckup
    from covey.adapters.sqlite.search_checkup import SearchCheckup
    from covey.services.leftovers import used_blobs

    path = ledger_path(url)
    return SearchCheckup(path), BlobsCheckup(os.path.dirname(path), lambda: used_blobs(ports.store))


def views(url: StoreUrl, report: Report = report_nothing):
    """Return what shows a space as it is at one moment, for exports. What has to come first is reported."""
    if url.engine is Engine.MEMORY:
        from covey.adapters.memory import MemoryStore, MemoryViews

        return MemoryViews(MemoryStore())
    if url.engine is Engine.NATS:
        nats_wiring().fetch_all(url, report)
    from covey.adapters.sqlite.views import SqliteViews

    _reconcile(url, report)
    return SqliteViews(ledger_path(url))


def caretaking(url: StoreUrl):
    """Return what cleans up beneath the records of a space: the contents of files, and the pages of the store."""
    if url.engine is Engine.MEMORY:
        from covey.adapters.memory import MemoryBlobs, MemoryPages

        return MemoryBlobs(), MemoryPages()
    from covey.adapters.blobfiles.blobs import BlobFiles
    from covey.adapters.sqlite.pages import SqlitePages

    path = ledger_path(url)
    if url.engine is Engine.NATS:
        return nats_wiring().far_blobs(url), SqlitePages(path)
    return BlobFiles(os.path.dirname(path)), SqlitePages(path)


def backup(url: StoreUrl, report: Report = report_nothing):
    """Return what makes backups of a space. What has to come first is reported."""
    _check_can_be_kept(url)
    from covey.adapters.archive.tar import TarArchives
    from covey.adapters.blobfiles.blobs import BlobFiles
    from covey.adapters.sqlite.opening import check_database
    from covey.adapters.sqlite.snapshots import SqliteSnapshots
    from covey.services.backup import Backup

    path = ledger_path(url)
    if url.engine is Engine.NATS:
        nats_wiring().fetch_all(url, report)
        far_blobs = nats_wiring().far_blobs(url)
        return Backup(SqliteSnapshots(path), TarArchives(), far_blobs, far_blobs, SystemClock())
    _reconcile(url, report)
    if not is_there(url):
        raise SpaceMissing(str(url), "there is nothing to back up")
    check_database(path)
    blobs = BlobFiles(os.path.dirname(path))
    return Backup(SqliteSnapshots(path), TarArchives(), blobs, blobs, SystemClock())


def restore(url: StoreUrl):
    """Return what restores a backup to where the URL says."""
    _check_can_be_kept(url)
    if url.engine is Engine.NATS:
        raise Invalid("store", str(url), "restore it to sqlite:PATH, export that, and import it here")
    from covey.adapters.archive.tar import TarArchives
    from covey.adapters.blobfiles.blobs import BlobFiles
    from covey.adapters.sqlite.place import SqlitePlace
    from covey.adapters.system.liveness import SystemLiveness
    from covey.services.restore import Restore

    path = ledger_path(url)
    folder = os.path.dirname(path)
    place = SqlitePlace(path)
    if url.engine is Engine.FILES:
        from covey.adapters.files.place import SharedPlace

        prepared(url)
        place = SharedPlace(place, place_of(url))
    return Restore(TarArchives(), place, BlobFiles(folder), SystemLiveness(folder), SystemClock())


def salvage(url: StoreUrl, target: str, tell: Callable[[int, int | None], None]):
    """Copy what can still be read of a damaged store into a new one; return what became of each sort of record."""
    if url.engine is Engine.MEMORY:
        raise Invalid("store", str(url), "only a store in a file can be salvaged")
    if url.engine is Engine.NATS:
        raise Invalid("store", str(url), "its log has everything: remove the damaged replica, and it is fetched again")
    from covey.adapters.sqlite.salvage import salvage

    return salvage(ledger_path(url), os.path.expanduser(target), tell)


def check_two_places(source: StoreUrl, target: StoreUrl) -> None:
    """Raise Invalid where a space can't be moved from one to the other, and SpaceMissing where there is none."""
    for url in (source, target):
        if url.engine is Engine.MEMORY:
            raise Invalid("store", str(url), "it ends with this process; name a store that stays")
    here = ledger_path(source)
    if os.path.realpath(here) == os.path.realpath(ledger_path(target)):
        raise Invalid("store", str(target), "it is the one that is to be moved")
    is_shared_folder = source.engine is Engine.FILES and os.path.isdir(place_of(source))
    if not is_shared_folder and not is_there(source):
        raise SpaceMissing(str(source), "there is no space to move")


def _reconcile(url: StoreUrl, report: Report) -> None:
    """Take in what others have done in a folder, before its ledger is copied as it is."""
    if url.engine is not Engine.FILES or not os.path.isdir(place_of(url)):
        return
    from covey.core.drive import finish
    from covey.services.history import History

    inline = connect_inline(url, (), report)
    try:
        finish(History(inline.store, inline.clock, inline.search).last())
    finally:
        finish(inline.close())


def _check_can_be_kept(url: StoreUrl) -> None:
    if url.engine is Engine.MEMORY:
        raise Invalid(
            "store", str(url), "it ends with its process; only a store in a file can be backed up and restored"
        )
