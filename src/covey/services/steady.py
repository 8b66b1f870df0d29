"""A steady look at who is there: within one transaction everyone is found as they were found first.

Otherwise a process that dies in the middle of one could be counted as live when its inbox is chosen and as dead, its
session ended, before the mail is placed there: nobody would ever find it.
"""

from collections.abc import Sequence

from covey.core.ancestry import Ancestor
from covey.core.session import Holder
from covey.ports.presence import Liveness


class SteadyLiveness:
    """`Liveness` that asks about each holder once. Made for one transaction, and dropped with it."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._found: dict[Holder, bool] = {}

    def hold(self) -> Holder:
        return self._liveness.hold()

    def process(self, pid: int) -> Holder | None:
        return self._liveness.process(pid)

    def ancestors(self) -> Sequence[Ancestor]:
        return self._liveness.ancestors()

    def is_held(self, holder: Holder) -> bool:
        found = self._found.get(holder)
        if found is None:
            found = self._found[holder] = self._liveness.is_held(holder)
        return found

    def close(self) -> None:
        self._liveness.close()
