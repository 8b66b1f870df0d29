"""A steady view of liveness: within one transaction or batch, each holder is checked once and keeps its first result.

Otherwise a process that dies in between could count as live when its inbox is chosen and as dead, with its session
ended, before the mail is placed there: the mail would be lost. The cache also saves repeated lookups for the next
message of a batch: resolving recipients is a good part of the cost of a send.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.directory.ancestry import Ancestor
from covey.core.directory.card import Agent
from covey.core.directory.routing import Recipient
from covey.core.directory.session import Holder, Session
from covey.core.names import AgentName
from covey.ports.directory import Liveness


class Found(NamedTuple):
    """A resolved recipient, with the records it was resolved from."""

    agent: Agent
    sessions: Sequence[Session]
    recipient: Recipient


class SteadyLiveness:
    """`Liveness` that checks each holder once. It lives for one directory version, or one transaction."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._found: dict[Holder, bool] = {}
        self.recipients: dict[AgentName, Found] = {}
        """Resolved recipients, by name."""

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


class SteadyLook:
    """One `SteadyLiveness` for all operations at the same directory version. Commits are serial, so that one is
    enough."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._moment: int | None = None
        self._steady = SteadyLiveness(liveness)

    def at(self, moment: int) -> SteadyLiveness:
        if moment != self._moment:
            self._moment = moment
            self._steady = SteadyLiveness(self._liveness)
        return self._steady
