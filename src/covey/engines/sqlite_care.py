"""Care of a space whose ledger is an SQLite file on this machine."""

import os
from collections.abc import Mapping, Sequence

from covey.adapters.system.blobs import BlobFiles
from covey.adapters.system.clock import SystemClock
from covey.core.errors import SpaceMissing
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import STORE_FOLDER, StoreUrl
from covey.engines.engine import Engine
from covey.ports.care import BackupPorts, Checkup, ProgressCallback, RestorePorts, RestoreTarget, Salvaged, UpkeepPorts
from covey.ports.store import Store
from covey.ports.views import Views


class SqliteCare:
    """`Care` for an engine with its ledger in a file. An engine that keeps more than that overrides methods."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def checkups_beneath(self, url: StoreUrl) -> Sequence[Checkup]:
        from covey.adapters.sqlite.care.checkup import StoreCheckup

        return StoreCheckup(self._path(url)), *self._checkups_of_folders(url)

    def checkups_beside(self, url: StoreUrl, store: Store) -> Sequence[Checkup]:
        from covey.adapters.sqlite.care.checkup import SearchCheckup
        from covey.adapters.system.checkup import BlobsCheckup
        from covey.services.care.prune import used_blobs

        path = self._path(url)
        return SearchCheckup(path), BlobsCheckup(os.path.dirname(path), lambda: used_blobs(store))

    def upkeep(self, url: StoreUrl) -> UpkeepPorts:
        from covey.adapters.sqlite.care.pages import SqlitePages

        path = self._path(url)
        return UpkeepPorts(BlobFiles(os.path.dirname(path)), SqlitePages(path))

    def views(self, url: StoreUrl, report: Report = report_nothing) -> Views:
        from covey.adapters.sqlite.care.views import SqliteViews

        self._bring_up_to_date(url, report)
        return SqliteViews(self._path(url))

    def backup(self, url: StoreUrl, report: Report = report_nothing) -> BackupPorts:
        from covey.adapters.archive.tar import TarArchives
        from covey.adapters.sqlite.care.integrity import check_database
        from covey.adapters.sqlite.care.snapshots import SqliteSnapshots

        self._bring_up_to_date(url, report)
        if not self._engine.is_there(url):
            raise SpaceMissing(str(url), "there is nothing to back up")
        path = self._path(url)
        check_database(path)
        blobs = BlobFiles(os.path.dirname(path))
        return BackupPorts(SqliteSnapshots(path), TarArchives(), blobs, blobs, SystemClock())

    def restore(self, url: StoreUrl) -> RestorePorts:
        from covey.adapters.archive.tar import TarArchives
        from covey.adapters.system.liveness import SystemLiveness

        folder = os.path.dirname(self._path(url))
        return RestorePorts(TarArchives(), self._place(url), BlobFiles(folder), SystemLiveness(folder), SystemClock())

    def salvage(self, url: StoreUrl, target: str, tell: ProgressCallback) -> Mapping[str, Salvaged]:
        from covey.adapters.sqlite.care.salvage import salvage

        return salvage(self._path(url), os.path.expanduser(target), tell)

    def _path(self, url: StoreUrl) -> str:
        path = self._engine.ledger_path(url)
        if path is None:
            raise TypeError(f"{type(self._engine).__name__} has no file for the ledger of {url}")
        return path

    def _checkups_of_folders(self, url: StoreUrl) -> Sequence[Checkup]:
        """Return the checkups of the ledger's folder and of its sockets."""
        from covey.adapters.doorbell.checkup import DoorbellCheckup
        from covey.adapters.doorbell.runtime_folder import runtime_folder
        from covey.adapters.system.checkup import FolderCheckup

        path = self._path(url)
        return FolderCheckup(path, STORE_FOLDER), DoorbellCheckup(path, runtime_folder(os.environ))

    def _bring_up_to_date(self, url: StoreUrl, report: Report) -> None:
        """Make the ledger complete before a copy. A ledger that is the only source always is, so this does nothing."""

    def _place(self, url: StoreUrl) -> RestoreTarget:
        from covey.adapters.sqlite.care.restore import SqliteRestoreTarget

        return SqliteRestoreTarget(self._path(url))
