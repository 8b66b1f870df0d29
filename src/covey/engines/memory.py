"""The engine `memory:`: a private space for each caller that opens one, which ends with the process."""

from collections.abc import Sequence
from typing import Final

import covey.ports as ports
from covey.adapters.system.clock import SystemClock
from covey.core.late import late
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl, parse_options, split_store_url
from covey.engines.engine import EngineCapabilities


class MemoryEngine:
    usage = "memory:"
    capabilities = EngineCapabilities(is_shared=False, is_lasting=False)

    def parse(self, text: str) -> StoreUrl:
        scheme, place, query = split_store_url(text)
        return StoreUrl(scheme or "", place, parse_options(query, {}))

    def absolute(self, url: StoreUrl) -> StoreUrl:
        return url

    def for_new(self, url: StoreUrl) -> StoreUrl:
        return url

    @late
    def care(self) -> "ports.Care":
        from covey.engines.no_care import NoCare

        return NoCare()

    def is_there(self, url: StoreUrl) -> bool:
        del url
        return False  # each `connect` starts an empty space

    def has_messages(self, url: StoreUrl) -> bool:
        return self.is_there(url)

    def ledger_path(self, url: StoreUrl) -> None:
        del url

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        del url, report
        from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore, MemoryWakeups
        from covey.adapters.system.files import RootedFiles, StoreFiles
        from covey.adapters.system.ids import SystemIds
        from covey.engines.adapters import Adapters

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

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        return self.connect(url, roots, report)


ENGINE: Final = MemoryEngine()
