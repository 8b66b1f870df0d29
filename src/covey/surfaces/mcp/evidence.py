"""Evidence: what a model was shown in results of tools, and which later call shows that it has read them.

A call that comes after a result does not prove that the model answered in between: models make several calls at once,
and clients carry them out one after another. Those follow each other within moments. So only a call that comes after a
pause counts, and only as inferred.
"""

import logging
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, Unavailable
from covey.core.identity import Identity
from covey.core.ids import OfferId
from covey.core.ledger.evidence import EvidenceGrade
from covey.services.space import Services

PAUSE_S: Final = 1.0
"""A call that comes sooner after a result may have been made together with the one that the result is for."""

_log = logging.getLogger(__name__)


class _Shown(NamedTuple):
    offer: OfferId
    at: float
    """When the result that shows it was handed over, by a clock that only goes forward."""


class Evidence:
    """The offers of one session that wait for evidence, as this server has shown them. What it can't say because it was
    not there, an earlier server's for one, is left to their leases."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: list[_Shown] = []
        self._actor: Identity | None = None

    def begin(self, actor: Identity) -> None:
        """Begin anew, with a session in which nothing was shown yet."""
        self._actor = actor
        self._waiting.clear()

    def shown(self, offer: OfferId) -> None:
        """Note that a result that shows an offer is on its way."""
        self._waiting.append(_Shown(offer, self._services.clock.monotonic()))

    async def called(self) -> None:
        """Conclude from a call that comes in now what the model had read before it."""
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
        except CoveyError as error:  # such as one that was pruned: what was called has nothing to do with it
            _log.warning("there is no evidence for an offer: %s", error.message)
