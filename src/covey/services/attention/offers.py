"""Offers: deliveries that are shown to a model, completely or in part, and the evidence that they arrived."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from covey.core.authority import is_bound
from covey.core.directory.session import Session
from covey.core.errors import DeliveryUnknown, Invalid, NotYours, OfferUnknown
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState, Move, moved, state_at
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message, asks_something, body_of
from covey.core.ledger.offer import EvidenceGrade, Extent, Offer, Presentation, better, offered, proven, whole
from covey.core.limits import OFFER_LEASE
from covey.core.names import DeliveryId, MessageId, OfferId, message_topic
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal, shift
from covey.services.attention.recently_shown import RecentlyShown
from covey.services.care.upkeep import Upkeep
from covey.services.directory.settings import is_paused
from covey.services.mail.filing import NoticePorts
from covey.services.mail.waits import without_awaited
from covey.services.records import known_message, own_session, read_all
from covey.services.tasks.claims import take_parked
from covey.services.tasks.open_tasks import fit_tasks, parked_copies


class ShownMessage(NamedTuple):
    """A delivery and its message, as they go into a model's context."""

    delivery: DeliveryRecord
    message: Message


class Showing(NamedTuple):
    """An offer with the items it shows, in the order of the inbox. True if it shows any."""

    offer: Offer
    items: tuple[ShownMessage, ...]

    def __bool__(self) -> bool:
        """True if the offer shows a message."""
        return bool(self.items)


class OfferPart(NamedTuple):
    """A delivery, and the part of it that an offer shows."""

    delivery: DeliveryRecord
    extent: Extent


class MailOffers:
    def __init__(
        self, store: Store, clock: Clock, notice_ports: NoticePorts, upkeep: Upkeep, recently_shown: RecentlyShown
    ) -> None:
        self._recently_shown = recently_shown
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._upkeep = upkeep

    async def offer(
        self,
        actor: Identity,
        turn: str,
        *,
        presentation: Presentation = Presentation.ONCE,
        limit: int = 64,
        wanted: Collection[DeliveryId] | None = None,
        lease: timedelta = OFFER_LEASE,
    ) -> Showing | None:
        """Take the waiting mail of the actor's inbox, oldest first, for one showing; None if there is nothing to show,
        or the agent is paused.

        Deliveries that another live offer of the session holds are left out. If `limit` allows, unclaimed tasks of the
        agent are taken too. `wanted` restricts the choice to these deliveries of the inbox.
        """

        async def operation(tx: Transaction) -> Showing | None:
            session = await own_session(tx, actor)
            if await is_paused(tx, session.agent):
                return None
            act = Act(tx, actor, self._clock.now())
            await self._upkeep.mend_inbox(act, session.inbox)
            states = shown_states(presentation)
            waiting = await tx.inboxes.waiting(session.inbox, states, limit=limit if wanted is None else 10_000)
            waiting = await without_awaited(tx, waiting, session.agent, act.now)
            chosen = [d for d in waiting if wanted is None or d.id in wanted][:limit]
            if wanted is None and len(chosen) < limit:
                chosen += await self._tasks(act, session, limit - len(chosen))
            messages, damaged = await read_all(tx, chosen)
            if damaged:
                from covey.services.mail.damage_notices import report_damaged  # imported late because damage is rare

                chosen = [d for d in chosen if d.message_id in messages]
                await report_damaged(act, damaged, self._notice_ports)
            if not chosen:
                return None
            parts = [OfferPart(d, whole(len(body_of(messages[d.message_id])))) for d in chosen]
            offer, held = await make_offer(
                act, self._notice_ports.ids.offer_id(), session, parts, turn, presentation, lease
            )
            return Showing(offer, tuple([ShownMessage(d, messages[d.message_id]) for d in held]))

        showing = await self._store.commit(operation)
        if showing is not None:
            self._recently_shown.shown(actor.session, [(i.message.sender.agent, i.message.id) for i in showing.items])
        return showing

    async def _tasks(self, act: Act, session: Session, limit: int) -> Sequence[DeliveryRecord]:
        """Claim tasks for the session, and return the deliveries that hand them over."""
        tasks = await fit_tasks(act, session.agent, limit, self._notice_ports, is_to_show=True)
        await own_session(act.tx, act.actor)  # sessions may have been found dead while notices were sent
        return [await take_parked(act, copy, session) for copy in await parked_copies(act.tx, tasks, act.now)]

    async def confirm(
        self,
        offer_id: OfferId,
        actor: Identity,
        grade: EvidenceGrade,
        basis: str,
        only: Collection[DeliveryId] | None = None,
    ) -> Sequence[DeliveryRecord]:
        """Record evidence that an offer, live or past, reached the model. Return the deliveries in their new states."""

        async def operation(tx: Transaction) -> Sequence[DeliveryRecord]:
            act = Act(tx, actor, self._clock.now())
            offer = await _own_offer(tx, offer_id, actor)
            shown = [delivery_id for delivery_id in offer.deliveries if only is None or delivery_id in only]
            extents = [offer.extent_of(delivery_id) for delivery_id in shown]
            await journal(
                act,
                Action.EVIDENCE,
                agent=actor.agent,
                offer=offer.id,
                session=offer.session,
                deliveries=shown,
                extents=as_lists(extents),
                grade=str(grade),
                basis=basis,
            )
            after: list[DeliveryRecord] = []
            for delivery_id, extent in zip(shown, extents, strict=True):
                delivery = await tx.deliveries.get(delivery_id)
                if delivery is not None:
                    after.append(await _evidence(act, delivery, offer, extent, grade))
            if only is None and offer.ended_at is None:
                await tx.offers.put(offer._replace(ended_at=act.now, end_reason="confirmed"))
            return after

        return await self._store.commit(operation)

    async def named(self, message_id: MessageId, actor: Identity, basis: str) -> Sequence[DeliveryRecord]:
        """Record that a model used a message's id in a call: everything that the offers of the message to its session
        showed must have been in its context. An id that was never shown is a guess, and proves nothing."""

        async def operation(tx: Transaction) -> Sequence[DeliveryRecord]:
            act = Act(tx, actor, self._clock.now())
            copies = [d for d in await tx.deliveries.of_message(message_id) if d.agent == actor.agent]
            mine = [d for d in copies if d.session is not None and d.session == actor.session]
            if not mine:
                raise DeliveryUnknown(message_id, actor.agent)
            shown = [(d, _named_part(d)) for d in mine if d.seen is not None or d.offer is not None]
            shown = [(d, extent) for d, extent in shown if extent is None or not extent.is_empty]
            if not shown:
                return mine
            await journal(
                act,
                Action.EVIDENCE,
                message_id=message_id,
                agent=actor.agent,
                deliveries=[d.id for d, _ in shown],
                extents=as_lists([extent for _, extent in shown]),
                grade=str(EvidenceGrade.NAMED),
                basis=basis,
            )
            after: list[DeliveryRecord] = []
            for delivery, extent in shown:
                offer = await tx.offers.get(delivery.offer) if delivery.offer else None
                after.append(await _evidence(act, delivery, offer, extent, EvidenceGrade.NAMED))
            return after

        return await self._store.commit(operation)

    async def give_back(self, offer_id: OfferId, actor: Identity, reason: str) -> Sequence[DeliveryRecord]:
        """End an offer that did not reach the model. The deliveries that it still holds are queued again. Calling this
        twice has no further effect."""

        async def operation(tx: Transaction) -> Sequence[DeliveryRecord]:
            act = Act(tx, actor, self._clock.now())
            offer = await _own_offer(tx, offer_id, actor)
            returned: list[DeliveryRecord] = []
            for delivery_id in offer.deliveries:
                delivery = await tx.deliveries.get(delivery_id)
                if delivery is not None and delivery.offer == offer.id and delivery.state is DeliveryState.OFFERED:
                    returned.append(await shift(act, delivery, Move.RETURN, reason))
            if offer.ended_at is None:
                await tx.offers.put(offer._replace(ended_at=act.now, end_reason=reason))
                await journal(act, Action.OFFER_ENDED, agent=actor.agent, offer=offer.id, reason=reason)
            return returned

        return await self._store.commit(operation)


async def make_offer(
    act: Act,
    offer_id: OfferId,
    session: Session,
    parts: Sequence[OfferPart],
    turn: str,
    presentation: Presentation,
    lease: timedelta,
) -> tuple[Offer, Sequence[DeliveryRecord]]:
    """Create an offer that shows parts of deliveries from a session's inbox. Return the offer and the held
    deliveries."""
    offer = Offer(
        id=offer_id,
        session=session.id,
        turn=turn,
        deliveries=tuple([part.delivery.id for part in parts]),
        offered_at=act.now,
        lease_until=act.now + lease,
        presentation=presentation,
        lease=lease,
        extents=tuple([part.extent for part in parts]),
    )
    await act.tx.offers.put(offer)
    held = [await _hold(act, part, offer) for part in parts]
    await journal(
        act,
        Action.OFFER_MADE,
        agent=session.agent,
        offer=offer.id,
        turn=turn,
        deliveries=list(offer.deliveries),
        extents=as_lists(offer.extents),
    )
    return offer, held


def as_lists(extents: Iterable[Extent | None]) -> list[Json]:
    """Return extents in the form of the journal."""
    return [None if extent is None else list(extent) for extent in extents]


def shown_states(presentation: Presentation) -> Collection[DeliveryState]:
    """Return the states that an offer may show: queued under `once`; under `until_handled` also in context and not
    handled."""
    if presentation is Presentation.UNTIL_HANDLED:
        return frozenset({DeliveryState.QUEUED, DeliveryState.IN_CONTEXT})
    return frozenset({DeliveryState.QUEUED})


async def _own_offer(tx: Transaction, offer_id: OfferId, actor: Identity) -> Offer:
    """Return an offer that was made to a session of the actor's agent."""
    offer = await tx.offers.get(offer_id)
    if offer is None:
        raise OfferUnknown(offer_id)
    session = await tx.sessions.get(offer.session)
    if not actor.is_operator and (session is None or session.agent != actor.agent):
        if is_bound(actor):
            raise OfferUnknown(offer_id)
        raise NotYours("confirm an offer of", offer_id, actor.agent, session.agent if session else "its session")
    return offer


async def _hold(act: Act, part: OfferPart, offer: Offer) -> DeliveryRecord:
    """Let the offer hold a delivery. A delivery that was in context before stays so while it is shown again, with a new
    time, so that the one shown longest ago is known. An offer of the rest of a message takes the delivery over from the
    earlier offer."""
    delivery = part.delivery
    if delivery.state is DeliveryState.IN_CONTEXT:
        again = delivery._replace(updated_at=act.now)
        await act.tx.deliveries.put(again)
        return again
    shown = delivery if delivery.state is DeliveryState.OFFERED else moved(delivery, Move.OFFER, act.now)
    seen = offered(delivery.seen, part.extent)
    held = shown._replace(offer=offer.id, lease_until=offer.lease_until, updated_at=act.now, seen=seen)
    await act.tx.deliveries.put(held)
    act.tx.ring(message_topic(delivery.message_id))
    return held


def _named_part(delivery: DeliveryRecord) -> Extent | None:
    """Return the extent of a delivery in the context of the model that names it; None if it is unknown."""
    return None if delivery.seen is None else Extent(*delivery.seen.named, delivery.seen.length)


async def _evidence(
    act: Act, delivery: DeliveryRecord, offer: Offer | None, extent: Extent | None, grade: EvidenceGrade
) -> DeliveryRecord:
    """Apply evidence for one showing to a delivery. Evidence counts for past offers too, but does not revive a delivery
    that has ended. The delivery counts as in context only if there is evidence for all of it."""
    is_there = offer is None or delivery.session == offer.session
    seen, reached = proven(delivery.seen, extent, grade, is_there=is_there)
    graded = delivery._replace(seen=seen, grade=delivery.grade if reached is None else better(delivery.grade, reached))
    if delivery.is_terminal or delivery.state is DeliveryState.IN_CONTEXT:
        after = await _noted(act, delivery, graded)
    elif reached is None:
        if delivery.state is DeliveryState.OFFERED and offer is not None and delivery.offer == offer.id:
            return await shift(act, graded, Move.CONTINUE, str(seen))
        return await _noted(act, delivery, graded)
    elif offer is not None and not is_there and wants_more(delivery, offer):
        # Another session has the delivery now: the evidence is about a lost context, and there is work left to do.
        return await _noted(act, delivery, graded)
    else:
        after = await shift(act, graded, Move.CONFIRM, f"evidence: {grade}")
    is_once = offer is None or offer.presentation is Presentation.ONCE
    if after.state is DeliveryState.IN_CONTEXT and is_once and not asks_something(after.kind, after.expects_reply):
        after = await shift(act, after, Move.SETTLE, "shown")
    return after


async def _noted(act: Act, before: DeliveryRecord, after: DeliveryRecord) -> DeliveryRecord:
    """Record the evidence of a delivery whose state does not change."""
    if after != before:
        await act.tx.deliveries.put(after)
        act.tx.ring(message_topic(after.message_id))
    return after


def wants_more(delivery: DeliveryRecord, offer: Offer) -> bool:
    """Tell whether a delivery needs more than to be shown: it asks something, or the offer shows it until handled."""
    asks = asks_something(delivery.kind, delivery.expects_reply)
    return asks or offer.presentation is Presentation.UNTIL_HANDLED


class ReadPart(NamedTuple):
    """A part of a message's body."""

    message: Message
    text: str
    extent: Extent
    offer: OfferId | None = None
    """The offer of the showing, if the message waits in the reader's session and has not been seen completely."""


class MessageReader:
    def __init__(self, store: Store, clock: Clock, notice_ports: NoticePorts, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._upkeep = upkeep

    async def read(
        self,
        message_id: MessageId,
        actor: Identity,
        start: int,
        longest: int,
        turn: str,
        presentation: Presentation = Presentation.ONCE,
    ) -> ReadPart:
        """Return at most `longest` characters of a message's body, beginning at `start`. If the message waits in the
        actor's session, this is an offer, to be confirmed or returned. Raise Invalid if `start` is beyond the end."""
        part = await self.look(message_id, start, longest)
        if actor.session is None or await self._store.read(lambda tx: self._waiting(tx, message_id, actor)) is None:
            return part
        offer = await self._store.commit(lambda tx: self._offer(tx, part, actor, turn, presentation))
        return part._replace(offer=offer)

    async def look(self, message_id: MessageId, start: int, longest: int) -> ReadPart:
        """Like `read`, but without an offer: nothing is recorded. The holder of a token sees its own mail only."""
        message = await self._store.read(lambda tx: known_message(tx, message_id))
        body = body_of(message)
        if not 0 <= start <= len(body):
            raise Invalid("start", start + 1, f"the message has {len(body):,} characters")
        text = body[start : start + longest]
        return ReadPart(message, text, Extent(start, start + len(text), len(body)))

    async def _offer(
        self, tx: Transaction, part: ReadPart, actor: Identity, turn: str, presentation: Presentation
    ) -> OfferId | None:
        session = await own_session(tx, actor)
        act = Act(tx, actor, self._clock.now())
        await self._upkeep.mend_inbox(act, session.inbox)
        delivery = await self._waiting(tx, part.message.id, actor)
        if delivery is None:
            return None
        offer_id = self._notice_ports.ids.offer_id()
        parts = [OfferPart(delivery, part.extent)]
        await make_offer(act, offer_id, session, parts, turn, presentation, OFFER_LEASE)
        return offer_id

    async def _waiting(self, tx: Transaction, message_id: MessageId, actor: Identity) -> DeliveryRecord | None:
        """Return the delivery in the actor's session that has not been seen completely."""
        now = self._clock.now()
        for copy in await tx.deliveries.of_message(message_id):
            if copy.session == actor.session and state_at(copy, now) in (DeliveryState.QUEUED, DeliveryState.OFFERED):
                return copy
        return None
