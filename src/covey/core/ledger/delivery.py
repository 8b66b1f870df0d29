"""The delivery: one message in one inbox, and the table of its moves. A move that is not in the table is an error."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import IllegalMove
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade, SeenParts
from covey.core.names import (
    AgentName,
    DeliveryId,
    InboxId,
    MessageId,
    OfferId,
    Scope,
    SessionId,
    Subject,
    inbox_session,
    is_parked,
)


class DeliveryState(StrEnum):
    ACCEPTED = "accepted"
    QUEUED = "queued"
    OFFERED = "offered"
    IN_CONTEXT = "in_context"
    HANDLED = "handled"
    EVICTED = "evicted"
    EXPIRED = "expired"
    REFUSED = "refused"
    UNDELIVERABLE = "undeliverable"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


class Move(StrEnum):
    QUEUE = "queue"
    """The message is placed in an inbox."""
    REFUSE = "refuse"
    """The recipient's rules or its full inbox keep the message out."""
    FAIL = "fail"
    """The recipient has no live session, and the sender did not want the message parked."""
    OFFER = "offer"
    """The message is rendered for a model."""
    RETURN = "return"
    """The offer ended without evidence."""
    CONTINUE = "continue"
    """Evidence shows that a part of the message reached a model's context; the rest waits."""
    CONFIRM = "confirm"
    """Evidence shows that all of the message reached a model's context."""
    RELEASE = "release"
    """The session whose context held the message has ended; another context has not seen it."""
    SETTLE = "settle"
    """The message is answered, archived or dismissed, or was shown and asks for nothing."""
    EVICT = "evict"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"
    WITHDRAW = "withdraw"


_S = DeliveryState
_M = Move

MOVES: Final[Mapping[DeliveryState, Mapping[Move, DeliveryState]]] = {
    _S.ACCEPTED: {_M.QUEUE: _S.QUEUED, _M.REFUSE: _S.REFUSED, _M.FAIL: _S.UNDELIVERABLE},
    _S.QUEUED: {
        _M.OFFER: _S.OFFERED,
        _M.CONFIRM: _S.IN_CONTEXT,
        _M.SETTLE: _S.HANDLED,
        _M.EVICT: _S.EVICTED,
        _M.EXPIRE: _S.EXPIRED,
        _M.SUPERSEDE: _S.SUPERSEDED,
        _M.WITHDRAW: _S.WITHDRAWN,
    },
    _S.OFFERED: {
        _M.RETURN: _S.QUEUED,
        _M.CONTINUE: _S.QUEUED,
        _M.CONFIRM: _S.IN_CONTEXT,
        _M.SETTLE: _S.HANDLED,
    },
    _S.IN_CONTEXT: {_M.RELEASE: _S.QUEUED, _M.SETTLE: _S.HANDLED},
    _S.HANDLED: {},
    _S.EVICTED: {},
    _S.EXPIRED: {},
    _S.REFUSED: {},
    _S.UNDELIVERABLE: {},
    _S.SUPERSEDED: {},
    _S.WITHDRAWN: {},
}

TERMINAL: Final = frozenset(state for state, moves in MOVES.items() if not moves)
WAITING: Final = frozenset({_S.QUEUED, _S.OFFERED, _S.IN_CONTEXT})
"""States of the deliveries that an inbox still holds."""


SIBLING_HOLDS_IT: Final = "a sibling holds it"
SIBLING_LEFT_IT: Final = "a sibling left it too"
HAS_IT_ALREADY: Final = "the session has it already"
TIME_PASSED: Final = "its time had passed"
LEASE_ENDED: Final = "its lease ended"
GAVE_WAY: Final = frozenset({SIBLING_HOLDS_IT, SIBLING_LEFT_IT, HAS_IT_ALREADY})
"""Reasons for which a copy was settled without being handled: another copy of the message stands for it."""


class DeliveryRecord(NamedTuple):
    id: DeliveryId
    message_id: MessageId
    inbox: InboxId
    agent: AgentName | None
    """The recipient; None while the addressed session id is not registered."""
    state: DeliveryState
    kind: Kind
    sender: AgentName
    expects_reply: bool
    updated_at: datetime
    seq: int = 0
    """The store's sequence number: the order in the inbox. It is renewed whenever the delivery is placed in an
    inbox."""
    number: int = 0
    """The message's number for the recipient agent: 1, 2, 3…"""
    scope: Scope | None = None
    subject: Subject | None = None
    expires_at: datetime | None = None
    offer: OfferId | None = None
    lease_until: datetime | None = None
    """While the delivery is offered: the time at which the offer ends unless it is renewed."""
    grade: EvidenceGrade | None = None
    """The best evidence so far that a model had the message in context."""
    reason: str | None = None
    """The reason of the present state, such as the cause of a refusal."""
    archived_at: datetime | None = None
    seen: SeenParts | None = None
    """The part of the message that its session was shown; None if no offer there showed any, or only offers of older
    versions did."""

    @property
    def session(self) -> SessionId | None:
        """The session whose inbox holds the delivery; None while the delivery is parked."""
        return inbox_session(self.inbox)

    @property
    def is_partly_seen(self) -> bool:
        """True if a model had a part of the message in context, and the rest waits."""
        return self.seen is not None and bool(self.seen.spans) and self.seen.grade is None

    @property
    def is_parked(self) -> bool:
        return is_parked(self.inbox)

    @property
    def is_terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def gave_way(self) -> bool:
        """True if another copy of the message stands for this one: only the state of the other copy counts."""
        return self.state is DeliveryState.HANDLED and self.reason in GAVE_WAY

    @property
    def has_arrived(self) -> bool:
        """True if the inbox holds the delivery, or held it until it was handled."""
        return self.state in WAITING or self.state is DeliveryState.HANDLED


def moved(delivery: DeliveryRecord, move: Move, at: datetime, reason: str | None = None) -> DeliveryRecord:
    """Return the delivery after `move`. Raise IllegalMove for a move that is not in the table."""
    state = MOVES[delivery.state].get(move)
    if state is None:
        raise IllegalMove("delivery", delivery.state, move)
    if state is DeliveryState.OFFERED:
        return delivery._replace(state=state, updated_at=at, reason=reason)
    seen = seen_after(delivery.seen, move, reason)
    return delivery._replace(state=state, updated_at=at, reason=reason, offer=None, lease_until=None, seen=seen)


def seen_after(seen: SeenParts | None, move: Move, reason: str | None) -> SeenParts | None:
    """Return the part of a message that counts as shown after a move. After RELEASE, nothing counts: the next context
    has seen nothing. An offer that was given back was not shown, so a later use of the message's id proves nothing. An
    offer whose lease ended may have been shown."""
    if move is Move.RELEASE:
        return None
    if move is Move.RETURN and reason != LEASE_ENDED and seen is not None:
        return seen._replace(named=(0, 0)) if seen.spans else None
    return seen


def lapses_at(delivery: DeliveryRecord) -> datetime | None:
    """Return the time at which the delivery changes by itself: the end of its lease, or its expiry; None without
    either."""
    if delivery.state is DeliveryState.OFFERED:
        return delivery.lease_until
    return delivery.expires_at if delivery.state is DeliveryState.QUEUED else None


def delivery_at(delivery: DeliveryRecord, now: datetime) -> DeliveryRecord:
    """Return the delivery as a reader sees it at `now`, even if the end of its lease or its expiry is not recorded
    yet."""
    seen = delivery
    if seen.state is DeliveryState.OFFERED and seen.lease_until is not None and seen.lease_until <= now:
        seen = moved(seen, Move.RETURN, seen.lease_until, LEASE_ENDED)
    if seen.state is DeliveryState.QUEUED and seen.expires_at is not None and seen.expires_at <= now:
        seen = moved(seen, Move.EXPIRE, seen.expires_at, TIME_PASSED)
    return seen


def state_at(delivery: DeliveryRecord, now: datetime) -> DeliveryState:
    """Return the state as a reader sees it at `now`."""
    # A fast path: most deliveries have neither a lease nor an expiry, and inboxes are read in bulk.
    if delivery.lease_until is None and delivery.expires_at is None:
        return delivery.state
    return delivery_at(delivery, now).state
