"""Care of a space on NATS: its replica on this machine, and its data on the servers."""

import os
from collections.abc import Mapping, Sequence

from covey.adapters.system.clock import SystemClock
from covey.core.errors import Invalid
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl
from covey.engines.nats_driver import nats_ports
from covey.engines.sqlite_care import SqliteCare
from covey.ports.care import BackupPorts, Checkup, ProgressCallback, RestorePorts, Salvaged, UpkeepPorts


class NatsCare(SqliteCare):
    def checkups_beneath(self, url: StoreUrl) -> Sequence[Checkup]:
        server = nats_ports().server_checkup(url)
        # A machine that has not used the space has no replica yet, which is not an error.
        here = super().checkups_beneath(url) if os.path.exists(self._path(url)) else self._checkups_of_folders(url)
        return server, *here

    def upkeep(self, url: StoreUrl) -> UpkeepPorts:
        return super().upkeep(url)._replace(blobs=nats_ports().far_blobs(url))

    def backup(self, url: StoreUrl, report: Report = report_nothing) -> BackupPorts:
        from covey.adapters.archive.tar import TarArchives
        from covey.adapters.sqlite.care.snapshots import SqliteSnapshots

        self._bring_up_to_date(url, report)
        far_blobs = nats_ports().far_blobs(url)
        return BackupPorts(SqliteSnapshots(self._path(url)), TarArchives(), far_blobs, far_blobs, SystemClock())

    def restore(self, url: StoreUrl) -> RestorePorts:
        raise Invalid("store", str(url), "restore it to sqlite:PATH, export that, and import it here")

    def salvage(self, url: StoreUrl, target: str, tell: ProgressCallback) -> Mapping[str, Salvaged]:
        del target, tell
        raise Invalid(
            "store", str(url), "the log has all records: remove the damaged replica, and it is rebuilt from the log"
        )

    def _bring_up_to_date(self, url: StoreUrl, report: Report) -> None:
        """Fetch the log records that the replica lacks."""
        nats_ports().fetch_all(url, report)
