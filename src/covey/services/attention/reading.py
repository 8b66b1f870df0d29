"""Reading: a part of one message, on a model's request. New mail is shown as an offer like any other."""

from typing import NamedTuple

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId, OfferId
from covey.core.ledger.body import body_of
from covey.core.ledger.delivery import Delivery, DeliveryState, state_at
from covey.core.ledger.evidence import Extent
from covey.core.ledger.message import Message
from covey.core.ledger.offer import Presentation
from covey.core.limits import OFFER_LEASE
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.attention.offers import Part, make_offer
from covey.services.care.upkeep import Upkeep
from covey.services.known import known_message, own_session
from covey.services.mail.updates import NoticePorts


class ReadPart(NamedTuple):
    """A part of a message's body."""

    message: Message
    text: str
    extent: Extent
    offer: OfferId | None = None
    """The offer of the showing, if the message waits in the reader's session and has not been seen completely."""


class Reading:
    def __init__(self, store: Store, clock: Clock, desk: NoticePorts, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._desk = desk
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
        offer_id = self._desk.ids.offer_id()
        parts = [Part(delivery, part.extent)]
        await make_offer(act, offer_id, session, parts, turn, presentation, OFFER_LEASE)
        return offer_id

    async def _waiting(self, tx: Transaction, message_id: MessageId, actor: Identity) -> Delivery | None:
        """Return the delivery in the actor's session that has not been seen completely."""
        now = self._clock.now()
        for copy in await tx.deliveries.of_message(message_id):
            if copy.session == actor.session and state_at(copy, now) in (DeliveryState.QUEUED, DeliveryState.OFFERED):
                return copy
        return None
