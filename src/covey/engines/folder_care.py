"""Care of a space in a folder that other programs share."""

import os
from collections.abc import Sequence

from covey.adapters.folder.care import SharedFolderCheckup, SharedRestoreTarget
from covey.adapters.folder.disk_layout import chosen, prepare
from covey.core.coroutine import finish
from covey.core.reporting import Report
from covey.core.store_url import StoreUrl
from covey.engines.sqlite_care import SqliteCare
from covey.ports.care import Checkup, RestoreTarget
from covey.services.care.history import History


class FolderCare(SqliteCare):
    def checkups_beneath(self, url: StoreUrl) -> Sequence[Checkup]:
        root = self._root(url)
        mirror = SharedFolderCheckup(root, chosen(root, url.options.get("layout")))
        return *super().checkups_beneath(url), mirror

    def _bring_up_to_date(self, url: StoreUrl, report: Report) -> None:
        """Import the changes of other programs."""
        if not os.path.isdir(self._root(url)):
            return
        inline = self._engine.connect_inline(url, (), report)
        try:
            finish(History(inline.store, inline.clock, inline.search).last())
        finally:
            finish(inline.close())

    def _place(self, url: StoreUrl) -> RestoreTarget:
        root = self._root(url)
        prepare(root, chosen(root, url.options.get("layout")))
        return SharedRestoreTarget(super()._place(url), root)

    def _root(self, url: StoreUrl) -> str:
        """Return the shared folder."""
        return self._engine.absolute(url).place
