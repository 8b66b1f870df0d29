"""Attention: what is pending for a session, within a budget; looked at, or taken for one showing to a model."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.attention import LeftOut, Letter, OtherAgent, Pending, Rank, Terms, check_terms
from covey.core.attention_body import body_of
from covey.core.attention_fit import fit_letters, fit_others
from covey.core.attention_order import in_order, newest_states, rank_of
from covey.core.delivery import WAITING, Delivery, DeliveryState, Move, state_at
from covey.core.identity import Identity
from covey.core.ids import InboxId
from covey.core.message import Kind, Message, asks_something
from covey.core.names import RESERVED, AgentName
from covey.core.session import Session
from covey.ports.clock import Clock, Ids
from covey.ports.presence import Liveness
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.directory import agents_now
from covey.services.known import known_agent, known_message, own_session
from covey.services.offers import make_offer, shown_states
from covey.services.upkeep import Upkeep


class Choice(NamedTuple):
    """What of an inbox is shown."""

    pending: Pending
    deliveries: Sequence[Delivery]
    """Those of the letters."""
    outdated: Sequence[tuple[Delivery, Delivery]]
    """What is not shown because it tells an older state, each with the newer one."""


class Attention:
    def __init__(self, store: Store, clock: Clock, ids: Ids, liveness: Liveness, upkeep: Upkeep) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._liveness = liveness
        self._upkeep = upkeep

    async def look(self, actor: Identity, terms: Terms | None = None) -> Pending:
        """Return what the actor's session would be shown. It changes nothing."""
        wanted = check_terms(terms or Terms())

        async def operation(tx: Transaction) -> Pending:
            session = await own_session(tx, actor)
            around = await self._around(tx, session, wanted)
            return (await _choose(tx, session, around, wanted, self._clock.now())).pending

        return await self._store.read(operation, is_long=True)

    async def take(self, actor: Identity, turn: str, terms: Terms | None = None) -> Pending:
        """Return the same as an offer, to be confirmed or given back; nothing is written where no message waits."""
        wanted = check_terms(terms or Terms())
        seen = await self.look(actor, wanted)
        if not seen.letters:
            return seen

        async def operation(tx: Transaction) -> Pending:
            session = await own_session(tx, actor)
            act = Act(tx, actor, self._clock.now())
            await self._upkeep.mend_inbox(act, session.inbox)
            # Who else is there was found out before: no writer waits for that.
            choice = await _choose(tx, session, seen, wanted, act.now)
            if not choice.deliveries:
                return choice.pending
            for delivery, newer in choice.outdated:
                await _outdate(act, delivery, newer)
            offer_id = self._ids.offer_id()
            await make_offer(act, offer_id, session, choice.deliveries, turn, wanted.presentation, wanted.lease)
            return choice.pending._replace(offer=offer_id)

        return await self._store.commit(operation, is_long=True)

    async def _around(self, tx: Transaction, session: Session, terms: Terms) -> Pending:
        """Return who else is there, and whether the session's agent has said what it does."""
        views = await agents_now(tx, self._liveness, self._clock.now())
        others = [OtherAgent(v.name, v.presence, v.status, v.card.description) for v in views if v.sessions]
        pending = Pending(
            session.agent,
            others=tuple(other for other in others if other.name != session.agent),
            has_announced=(await known_agent(tx, session.agent)).status is not None,
            presentation=terms.presentation,
            ways=terms.ways,
        )
        return fit_others(pending, terms.budget)


async def _choose(tx: Transaction, session: Session, around: Pending, terms: Terms, now: datetime) -> Choice:
    """Choose from a session's inbox what fits the budget."""
    waiting = await _waiting(tx, session.inbox)
    states = shown_states(terms.presentation)
    kept, outdated = newest_states([d for d in waiting if state_at(d, now) in states])
    ranks = await _ranks(tx, kept, {*terms.leads, *await _leads(tx, session, waiting)})
    places = in_order(kept, lambda delivery: ranks[delivery.id])[: terms.limit]
    letters = [letter_of(d, await known_message(tx, d.message_id), ranks[d.id], terms.budget) for d in places]
    asking = sum(asks_something(d.kind, d.expects_reply) for d in kept)
    whole = around._replace(left_out=LeftOut(len(kept), asking))
    pending = fit_letters(whole, letters, terms.budget)
    by_id = {delivery.id: delivery for delivery in places}
    return Choice(pending, [by_id[letter.delivery_id] for letter in pending.letters], outdated)


async def _waiting(tx: Transaction, inbox: InboxId) -> Sequence[Delivery]:
    found: list[Delivery] = []
    while page := await tx.inboxes.waiting(inbox, WAITING, found[-1].seq if found else 0):
        found.extend(page)
    return found


async def _leads(tx: Transaction, session: Session, waiting: Sequence[Delivery]) -> Collection[AgentName]:
    """Return for whom a session works: whoever gave it a task that it has not finished, and whoever spawned it."""
    leads = {delivery.sender for delivery in waiting if delivery.kind is Kind.TASK}
    if not session.key.is_main:
        leads.add(session.key.agent)
        parent = await tx.sessions.get(session.key.children[-2]) if session.key.depth > 1 else None
        if parent is not None:
            leads.add(parent.agent)
    return leads


async def _ranks(tx: Transaction, deliveries: Sequence[Delivery], leads: Collection[AgentName]) -> dict[str, Rank]:
    """Return whose mail each delivery is. Its message is asked only where the name alone could deceive."""
    ranks: dict[str, Rank] = {}
    for delivery in deliveries:
        sender = Identity(delivery.sender)
        if delivery.sender in RESERVED:
            sender = (await known_message(tx, delivery.message_id)).sender
        ranks[delivery.id] = rank_of(sender, leads)
    return ranks


def letter_of(delivery: Delivery, message: Message, rank: Rank, longest: int) -> Letter:
    """Return a delivery as a model is shown it, with at most so many characters of its body."""
    body = body_of(message)
    return Letter(
        number=delivery.number,
        message_id=message.id,
        delivery_id=delivery.id,
        sender=message.sender,
        kind=message.kind,
        sent_at=message.created_at,
        text=body[:longest],
        length=len(body),
        rank=rank,
        expects_reply=message.expects_reply,
        scope=message.scope,
        subject=message.subject,
        correlation_id=message.correlation_id,
    )


async def _outdate(act: Act, delivery: Delivery, newer: Delivery) -> None:
    """Put away what tells an older state than what is shown or waits to be."""
    is_queued = delivery.state is DeliveryState.QUEUED
    await shift(act, delivery, Move.SUPERSEDE if is_queued else Move.SETTLE, f"superseded by {newer.message_id}")
