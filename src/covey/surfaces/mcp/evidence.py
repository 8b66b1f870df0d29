"""Evidence from later calls: a tool call after a pause implies that the model has read the results before it.

A call that comes after a result does not prove that the model answered in between: models make several calls at once,
and clients carry them out one after another. Such calls follow each other within moments. So a call counts only after a
pause, and only as inferred evidence.
"""

import logging
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, Unavailable
from covey.core.identity import Identity
from covey.core.ids import OfferId
from covey.core.ledger.evidence import EvidenceGrade
from covey.services.space import Services

PAUSE_S: Final = 1.0
"""The shortest pause that counts. A call that comes sooner may have been made together with the call before."""

_log = logging.getLogger(__name__)


class _Shown(NamedTuple):
    offer: OfferId
    at: float
    """The monotonic time at which the result with the offer was handed over."""


class Evidence:
    """The offers of one session that this server has shown and that wait for evidence. Offers that an earlier server
    has shown end with their leases."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: list[_Shown] = []
        self._actor: Identity | None = None

    def begin(self, actor: Identity) -> None:
        """Start over with a new session, in which nothing was shown yet."""
        self._actor = actor
        self._waiting.clear()

    def shown(self, offer: OfferId) -> None:
        """Record that a result with an offer is being sent."""
        self._waiting.append(_Shown(offer, self._services.clock.monotonic()))

    async def called(self) -> None:
        """Confirm, as inferred, the offers that were shown at least a pause before the call that comes in now."""
        now = self._services.clock.monotonic()
        read = [shown for shown in self._waiting if now - shown.at >= PAUSE_S]
        self._waiting = [shown for shown in self._waiting if shown not in read]
        for shown in read:
            await self._confirm(shown, f"a tool was called {now - shown.at:.1f} s after the result that shows it")

    async def _confirm(self, shown: _Shown, basis: str) -> None:
        assert self._actor is not None, "nothing is shown before a session begins"
        try:
            await self._services.offers.confirm(shown.offer, self._actor, EvidenceGrade.INFERRED, basis)
        except Unavailable:
            self._waiting.append(shown)
            raise
        except CoveyError as error:  # for example, the offer was pruned; the call itself must not fail for that
            _log.warning("there is no evidence for an offer: %s", error.message)
