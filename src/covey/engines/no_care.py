"""Care of spaces without files that could be examined, cleaned or copied."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from covey.adapters.memory import MemoryBlobs, MemoryPages, MemoryStore, MemoryViews
from covey.core.errors import Invalid
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl
from covey.ports.care import BackupPorts, Checkup, ProgressCallback, RestorePorts, Salvaged, UpkeepPorts
from covey.ports.store import Store
from covey.ports.views import Views

NO_BACKUP = "it ends with its process; only a store in a file can be backed up and restored"
NO_SALVAGE = "only a store in a file can be salvaged"


def _empty(_url: StoreUrl) -> Views:
    return MemoryViews(MemoryStore())


class NoCare:
    """`Care` that refuses backups and salvaging with the given reasons. `views` returns the contents of a space; by
    default a space is empty."""

    def __init__(
        self, no_backup: str = NO_BACKUP, no_salvage: str = NO_SALVAGE, views: Callable[[StoreUrl], Views] = _empty
    ) -> None:
        self._no_backup = no_backup
        self._no_salvage = no_salvage
        self._views = views

    def checkups_beneath(self, url: StoreUrl) -> Sequence[Checkup]:
        del url
        return ()

    def checkups_beside(self, url: StoreUrl, store: Store) -> Sequence[Checkup]:
        del url, store
        return ()

    def upkeep(self, url: StoreUrl) -> UpkeepPorts:
        del url
        return UpkeepPorts(MemoryBlobs(), MemoryPages())

    def views(self, url: StoreUrl, report: Report = report_nothing) -> Views:
        del report
        return self._views(url)

    def backup(self, url: StoreUrl, report: Report = report_nothing) -> BackupPorts:
        del report
        _refuse(url, self._no_backup)

    def restore(self, url: StoreUrl) -> RestorePorts:
        _refuse(url, self._no_backup)

    def salvage(self, url: StoreUrl, target: str, tell: ProgressCallback) -> Mapping[str, Salvaged]:
        del target, tell
        _refuse(url, self._no_salvage)


def _refuse(url: StoreUrl, reason: str) -> NoReturn:
    raise Invalid("store", str(url), reason)
