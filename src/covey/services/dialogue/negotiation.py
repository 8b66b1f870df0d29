"""Negotiation: a conversation of two sessions in rounds, in one thread; and messages that expect no reply."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.authority import check_operator, is_bound
from covey.core.channels.post import OWN
from covey.core.directory.session import Session
from covey.core.errors import Invalid, RoundsExhausted
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.delivery import WAITING, Move
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.marks import DialogueKind, Marks, Step, is_part_of, pair_of
from covey.core.ledger.message import Callback, Kind, Message, Part, text_of
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.ledger.ticket import Ticket
from covey.core.names import MessageId, TicketId, ticket_id, ticket_message
from covey.core.work.negotiation import (
    ROUNDS_SETTING,
    Negotiation,
    NegotiationEnding,
    is_skip,
    parse_rounds,
    read_negotiation,
    read_on,
)
from covey.ports.clock import Clock
from covey.ports.store import Operation, Store, Transaction
from covey.services.act import Act, journal, shift
from covey.services.attention.recently_shown import RecentlyShown
from covey.services.dialogue.asks import Asks
from covey.services.dialogue.negotiation_end import rounds_of
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy


class ExchangeState(StrEnum):
    REPLIED = "ok"
    """The other side sent a message: it is the reply."""
    DELIVERED = "delivered"
    """Nothing was waited for."""
    NO_REPLY_YET = "delivered_no_reply"
    """The wait timed out. The ticket stays open; a late reply arrives once, in the same thread."""
    ENDED = "ended"
    """The negotiation is over, or there was none."""
    FAILED = "failed"
    """There will be no reply; `reason` gives the cause."""


class SessionExchange(NamedTuple):
    """The result of a message to a session. True only if the other side replied."""

    state: ExchangeState
    session: Session
    """The other side."""
    message_id: MessageId | None = None
    """The id of the message that was sent."""
    round: int | None = None
    """None if the message is not part of a negotiation."""
    limit: int | None = None
    reply: Message | None = None
    is_question: bool = False
    """True if the reply is a question back, whose answer is owed now."""
    ticket: TicketId | None = None
    ending: NegotiationEnding | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        """True only if the other side replied."""
        return self.state is ExchangeState.REPLIED


async def result_place(tx: Transaction, to: Session, actor: Identity, led_by: MessageId | None) -> Callback | None:
    """Return the conversation of a child that is one of the two sessions, the only conversation that is bound to either
    of them, or the one that made the actor speak; None if there is none, or it is ambiguous."""
    for session_id in (to.id, actor.session):
        run = await tx.runs.of_session(session_id) if session_id is not None else None
        if run is not None and run.thread is not None:
            return run.thread
    # The holder of an agent's token may not see bindings.
    found = None if is_bound(actor) else await _bound(tx, to, actor)
    cause = await tx.messages.get(led_by) if found is None and led_by is not None else None
    return cause.callback if cause is not None else found


async def _bound(tx: Transaction, to: Session, actor: Identity) -> Callback | None:
    """Return the conversation that is bound to a session, or otherwise to its agent; None if there is none, or several,
    because a message to one person is not for another."""
    bindings = [binding for binding in await tx.bindings.all() if binding.conversation != OWN]
    own = await tx.sessions.get(actor.session) if actor.session is not None else None
    sessions = [session for session in (to, own) if session is not None]
    for names in (*({s.id, str(s.key)} for s in sessions), *({s.agent} for s in sessions)):
        found = [binding for binding in bindings if binding.to.value in names]
        if found:
            return Callback(found[0].channel, found[0].conversation) if len(found) == 1 else None
    return None


ANSWERING = SendPolicy(closes=True)

MOST_READ: Final = 256
"""The number of pairs whose negotiation is cached."""

Whom = Session | Operation[Session]
"""The other side, or an operation that looks it up."""


class ReplyTimeouts(NamedTuple):
    """The timeouts for a reply."""

    here: float
    """Seconds that this call waits."""
    known: float
    """Seconds that the wait takes in all, as recorded for others."""
    is_round: bool
    """True if a reply is wanted."""


class NegotiationView(NamedTuple):
    """The state between two sessions at one time."""

    known: Negotiation | None
    limit: int
    other: Session


class _ThreadRead(NamedTuple):
    """A thread as it was last read, with the negotiation parsed from it."""

    messages: Sequence[MessageId]
    limit: int
    known: Negotiation | None


class Negotiations:
    def __init__(self, store: Store, clock: Clock, mail: Mail, asks: Asks, recently_shown: RecentlyShown) -> None:
        self._store = store
        self._clock = clock
        self._mail = mail
        self._asks = asks
        self._recently_shown = recently_shown
        self._read: dict[str, _ThreadRead] = {}
        """A cache by pair, so that a round reads only the new messages of its thread."""

    async def say(
        self,
        parts: tuple[Part, ...],
        to: Whom,
        actor: Identity,
        timeout: float,
        callback: Callback | None = None,
        *,
        waits_on: float | None = None,
    ) -> SessionExchange:
        """Send a message to a session. If the actor owes an answer there, this is the answer. With a timeout the
        message is a round of the pair's negotiation, which begins with it if there is none, and the reply is waited
        for. Without a timeout the message is only delivered, and no reply is needed. REPLY_SKIP ends the negotiation.
        After the last round, RoundsExhausted is raised.

        The result of a negotiation is announced in the conversation of `callback`; by default in the one that either
        session is bound to, or in which the actor's model was last addressed.

        A caller that wants to return at once and wait by itself passes the length of its wait as `waits_on`. The
        message is then a round, too.
        """
        patience = (
            ReplyTimeouts(timeout, timeout, timeout > 0) if waits_on is None else ReplyTimeouts(0.0, waits_on, True)
        )
        known, limit, to = await self.look(actor, to)
        if to.id == actor.session:
            raise Invalid("session", str(to.key), "this is your own session; name another one")
        text = text_of(parts)
        owed = None if known is None else known.owed_by(actor)
        if known is not None and owed is not None:
            return await self._answer(known, owed, parts, to, actor, patience)
        if is_skip(text):
            return await self._end(known, parts, to, actor)
        if not patience.is_round:
            return await self._tell(None, parts, to, actor)
        if known is not None and known.ending is None:
            awaited = known.awaited_by(actor)
            if awaited is not None:  # no answer yet: this is a remark, and not another question
                await self._tell(known, parts, to, actor)
                return await self._await(known, awaited.id, to, actor, patience.here)
            return await self._round(known, parts, to, actor, patience)
        rest = None if known is None else known.rests(self._clock.now())
        if known is not None and rest is not None:
            raise RoundsExhausted(str(to.key), known.limit, rest.total_seconds())
        return await self._begin(parts, to, actor, patience, limit, callback)

    async def wait(self, to: Whom, actor: Identity, timeout: float) -> SessionExchange:
        """Wait for the reply of a session to the actor's last question. A reply that has arrived is returned again."""
        known, _, to = await self.look(actor, to)
        asked = None if known is None else known.asked_by(actor)
        if known is None or asked is None:
            reason = "you have asked this session nothing"
            return SessionExchange(ExchangeState.ENDED, to, ending=known.ending if known else None, reason=reason)
        return await self._await(known, asked, to, actor, timeout)

    async def look(self, actor: Identity, whom: Whom) -> NegotiationView:
        """Return the actor's last negotiation with a session, and the limit of rounds of a new one."""

        async def operation(tx: Transaction) -> NegotiationView:
            other = whom if isinstance(whom, Session) else await whom(tx)
            pair = pair_of(DialogueKind.TALK, actor, _side(other))
            limit = await rounds_of(tx)
            first = await tx.messages.latest_of(pair)
            is_theirs = first is not None and is_part_of(pair, first.sender)
            thread = await tx.messages.thread(first.thread) if first is not None and is_theirs else ()
            return NegotiationView(self._made_of(thread, pair, limit), limit, other)

        return await self._store.read(operation)

    def _made_of(self, thread: Sequence[Message], pair: str, limit: int) -> Negotiation | None:
        ids = [message.id for message in thread]
        before = self._read.get(pair)
        if before is not None and before.limit == limit and before.messages == ids[: len(before.messages)]:
            known = read_negotiation(thread[len(before.messages) :], limit, before.known)
        else:
            known = read_negotiation(thread, limit)
        if len(self._read) >= MOST_READ:
            self._read.clear()
        self._read[pair] = _ThreadRead(ids, limit, known)
        return known

    async def rounds(self) -> int:
        """Return the limit of rounds of a negotiation in this space."""
        return await self._store.read(rounds_of)

    async def set_rounds(self, rounds: int, actor: Identity) -> None:
        """Set the limit of rounds, also for negotiations in progress."""
        check_operator(actor, "change the rounds of negotiations")
        wanted = parse_rounds(rounds)

        async def operation(tx: Transaction) -> None:
            await tx.settings.put(ROUNDS_SETTING, str(wanted))
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=ROUNDS_SETTING, value=wanted)

        await self._store.commit(operation)

    async def _begin(
        self,
        parts: tuple[Part, ...],
        to: Session,
        actor: Identity,
        patience: ReplyTimeouts,
        limit: int,
        callback: Callback | None,
    ) -> SessionExchange:
        led_by = await self._led_by(to, actor)
        draft = _asking(parts, to)._replace(
            round=1,
            led_by=led_by,
            callback=callback or await self._store.read(lambda tx: result_place(tx, to, actor, led_by)),
        )
        marks = Marks(pair_of(DialogueKind.TALK, actor, _side(to)), to.agent, Step.ROUND)
        outcome = await self._ask(draft, actor, patience, marks)
        return await self._exchange(outcome, to, actor, 1, limit)

    async def _round(
        self, known: Negotiation, parts: tuple[Part, ...], to: Session, actor: Identity, patience: ReplyTimeouts
    ) -> SessionExchange:
        draft = _asking(parts, to)._replace(round=known.round + 1, in_reply_to=known.last.id)
        outcome = await self._ask(draft, actor, patience, Marks(step=Step.ROUND), known.last)
        return await self._exchange(outcome, to, actor, known.round + 1, known.limit)

    async def _ask(
        self, draft: Draft, actor: Identity, patience: ReplyTimeouts, marks: Marks, answered: Message | None = None
    ) -> Outcome:
        policy = SendPolicy(waits=patience.known)
        return await self._asks.ask(
            draft, actor, policy, patience.here, heeds_questions=True, answered=answered, marks=marks
        )

    async def _answer(
        self,
        known: Negotiation,
        owed: Message,
        parts: tuple[Part, ...],
        to: Session,
        actor: Identity,
        patience: ReplyTimeouts,
    ) -> SessionExchange:
        draft = Draft(Kind.RESPONSE, (), parts, round=known.round, in_reply_to=owed.id)
        sent = await self._mail.submit(draft, actor, ANSWERING, owed)
        after = read_on(known, sent.message)
        awaited = after.awaited_by(actor)
        if awaited is not None and patience.is_round:  # the other side had asked back, and may answer now
            return await self._await(known, awaited.id, to, actor, patience.here)
        state = ExchangeState.DELIVERED if after.ending is None else ExchangeState.ENDED
        return SessionExchange(state, to, sent.message.id, known.round, known.limit, ending=after.ending)

    async def _end(
        self, known: Negotiation | None, parts: tuple[Part, ...], to: Session, actor: Identity
    ) -> SessionExchange:
        if known is None or known.ending is not None:
            reason = "there is no negotiation to end"
            return SessionExchange(ExchangeState.ENDED, to, ending=known.ending if known else None, reason=reason)
        ended = await self._tell(known, parts, to, actor, is_end=True)
        return ended._replace(state=ExchangeState.ENDED, ending=NegotiationEnding.SKIPPED)

    async def _tell(
        self,
        known: Negotiation | None,
        parts: tuple[Part, ...],
        to: Session,
        actor: Identity,
        *,
        is_end: bool = False,
    ) -> SessionExchange:
        draft = Draft(Kind.NOTIFY, (Address(AddressKind.SESSION, to.id),), parts)
        if known is None:
            draft = draft._replace(led_by=await self._led_by(to, actor))
        else:
            draft = draft._replace(in_reply_to=known.last.id)
        marks = Marks(step=Step.END) if known is not None and is_end else None
        receipt = await self._mail.send(draft, actor, SendPolicy(), marks)
        count, limit = (None, None) if known is None else (known.round, known.limit)
        if receipt.delivered:
            return SessionExchange(ExchangeState.DELIVERED, to, receipt.message_id, count, limit)
        reason = next((copy.reason or "" for copy in receipt.refused), "")
        return SessionExchange(ExchangeState.FAILED, to, receipt.message_id, count, limit, reason=reason)

    async def _await(
        self, known: Negotiation, asked: MessageId, to: Session, actor: Identity, timeout: float
    ) -> SessionExchange:
        ticket = ticket_id(asked, to.agent)
        outcome = await self._asks.resume(ticket, actor, timeout, heeds_questions=True)
        return await self._exchange(outcome, to, actor, known.round, known.limit)

    async def _exchange(
        self, outcome: Outcome, to: Session, actor: Identity, count: int, limit: int
    ) -> SessionExchange:
        said = SessionExchange(
            ExchangeState.NO_REPLY_YET,
            to,
            outcome.ticket.message_id,
            count,
            limit,
            ticket=outcome.ticket.id,
            reason=outcome.reason,
        )
        if outcome.answer is not None:
            ending = (
                NegotiationEnding.SKIPPED
                if is_skip(outcome.answer.text)
                else NegotiationEnding.LIMIT
                if count >= limit
                else None
            )
            state = ExchangeState.ENDED if ending is NegotiationEnding.SKIPPED else ExchangeState.REPLIED
            return said._replace(state=state, reply=outcome.answer, ending=ending, reason="")
        if outcome.ticket.awaits is not None and outcome.kind is OutcomeKind.DELIVERED_NO_REPLY:
            question = await self._take(outcome.ticket, outcome.ticket.awaits, actor)
            return said._replace(state=ExchangeState.REPLIED, reply=question, is_question=True, reason="")
        if outcome.kind is OutcomeKind.DELIVERED_NO_REPLY and outcome.ticket.closed_at is None:
            return said
        return said._replace(state=ExchangeState.FAILED, reason=outcome.reason or str(outcome.kind))

    async def _take(self, asked: Ticket, question: TicketId, actor: Identity) -> Message | None:
        """Return a question back. The actor then has it, and is not shown it again; its answer stays owed. The actor's
        wait for the answer to its own question is over."""
        message_id = ticket_message(question)

        async def operation(tx: Transaction) -> Message | None:
            act = Act(tx, actor, self._clock.now())
            await tx.waits.remove(actor.agent, asked.id)
            for copy in await tx.deliveries.of_message(message_id):
                if copy.agent == actor.agent and copy.state in WAITING:
                    await shift(act, copy, Move.SETTLE, "returned by ask")
            return await tx.messages.get(message_id)

        return await self._store.commit(operation)

    async def _led_by(self, to: Session, actor: Identity) -> MessageId | None:
        return await self._recently_shown.leading(actor.session, (Address(AddressKind.SESSION, to.id),))


def _asking(parts: tuple[Part, ...], to: Session) -> Draft:
    return Draft(Kind.REQUEST, (Address(AddressKind.SESSION, to.id),), parts, expects_reply=True)


def _side(session: Session) -> Identity:
    return Identity(session.agent, session.id)
