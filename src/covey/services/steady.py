"""A steady look at who is there: for one message, and those of the same moment, everyone is found as they were first.

Otherwise a process that dies in the middle could be counted as live when its inbox is chosen and as dead, its
session ended, before the mail is placed there: nobody would ever find it. And what was found need not be found again
for the next message of a batch: looking for the recipients is a good part of what a send costs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from covey.core.ancestry import Ancestor
from covey.core.card import Agent
from covey.core.names import AgentName
from covey.core.routing import Recipient
from covey.core.session import Holder, Session
from covey.ports.presence import Liveness


class Found(NamedTuple):
    """Whom an agent's name means, and what that was found out from."""

    agent: Agent
    sessions: Sequence[Session]
    recipient: Recipient


class SteadyLiveness:
    """`Liveness` that asks about each holder once. Made for one moment, or one transaction, and dropped with it."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._found: dict[Holder, bool] = {}
        self.recipients: dict[AgentName, Found] = {}
        """Whom names mean that were looked for."""

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
    """The look that all operations have in common that see the same moment. Commits are serial, so one is enough."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._moment: int | None = None
        self._steady = SteadyLiveness(liveness)

    def at(self, moment: int) -> SteadyLiveness:
        if moment != self._moment:
            self._moment = moment
            self._steady = SteadyLiveness(self._liveness)
        return self._steady
