"""Offers under examination: deliveries that are held for a showing that is over."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.care.diagnoses import STUCK_OFFER
from covey.core.care.finding import Area, Examination, Finding
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import Delivery, DeliveryState, Move, state_at
from covey.core.text.wording import counted
from covey.core.times import format_instant
from covey.ports.checkup import Tell
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.attention.leases import lapse
from covey.services.care.doctor.note import note


class OffersCheckup:
    area = Area.OFFERS

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def examine(self, *, thorough: bool, tell: Tell) -> Examination:
        del thorough, tell
        held, stuck = await self._store.read(self._look, is_long=True)
        summary = f"{counted(held - len(stuck), 'message')} shown, waiting for evidence"
        return Examination(self.area, summary, (_finding(stuck),) if stuck else ())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            by_time = act._replace(actor=THE_SPACE)  # the actor only found it: time did this
            _, stuck = await self._look(tx)
            if stuck:
                await note(act, _finding(stuck))
            for delivery in stuck:
                if await _is_offered(tx, delivery):
                    await lapse(by_time, delivery)
                # An offer that does not list the delivery does not return it.
                if await _is_offered(tx, delivery):
                    await shift(by_time, delivery, Move.RETURN, "its offer is lost")

        await self._store.commit(operation, is_long=True)

    async def _look(self, tx: Transaction) -> tuple[int, list[Delivery]]:
        """Return the number of offered deliveries, and those of them that are stuck."""
        now = self._clock.now()
        held = 0
        stuck: list[Delivery] = []
        for inbox in await tx.inboxes.occupied():
            after = 0
            while page := await tx.inboxes.waiting(inbox, {DeliveryState.OFFERED}, after):
                after = page[-1].seq
                held += len(page)
                stuck += [delivery for delivery in page if await _is_stuck(tx, delivery, now)]
        return held, stuck


def _finding(stuck: Sequence[Delivery]) -> Finding:
    what = f"{counted(len(stuck), 'message')} still offered although the showing is over"
    return Finding(STUCK_OFFER, what, tuple(map(_line, stuck)))


async def _is_stuck(tx: Transaction, delivery: Delivery, now: datetime) -> bool:
    """Tell whether the lease is over, or no open offer holds the delivery."""
    if delivery.lease_until is None or state_at(delivery, now) is not DeliveryState.OFFERED:
        return True
    offer = await tx.offers.get(delivery.offer) if delivery.offer is not None else None
    return offer is None or offer.ended_at is not None


async def _is_offered(tx: Transaction, delivery: Delivery) -> bool:
    found = await tx.deliveries.get(delivery.id)
    return found is not None and found.state is DeliveryState.OFFERED


def _line(delivery: Delivery) -> str:
    until = delivery.lease_until
    lease = f"lease until {format_instant(until)[:19]}Z" if until else "no lease"
    return f"{delivery.id} for {delivery.agent or '?'} ({lease})"
