"""Recently shown messages: the last one from each sender that a model was shown counts as the cause of its next one.

Models seldom name the message they answer. Without this cache each of their messages would begin a causal tree of its
own, and a storm would look like many first messages. The cache lives in the process that shows mail and sends. If
another process of the same session shows the mail, as the hooks of a client do, the deliveries in the model's context
give the same answer."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from covey.core.identity import Address, AddressKind, parse_session_key
from covey.core.ledger.delivery import DeliveryState
from covey.core.names import SPACE, AgentName, MessageId, SessionId, session_inbox
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction

SECONDS: Final = 600.0
"""A message that was shown longer ago is not taken as a cause: something else has made the model speak."""

MOST: Final = 1_000
"""The size of the cache; the oldest entries are evicted."""

ANYBODY: Final = AgentName("*")

SHOWN: Final = frozenset({DeliveryState.OFFERED, DeliveryState.IN_CONTEXT})
"""States of deliveries that a model has in its context."""


class _ShownAt(NamedTuple):
    message: MessageId
    at: float


class RecentlyShown:
    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._shown: OrderedDict[tuple[SessionId, AgentName], _ShownAt] = OrderedDict()

    def shown(self, session: SessionId | None, messages: Iterable[tuple[AgentName, MessageId]]) -> None:
        """Remember the messages that a session's model is shown, with their senders, in order."""
        if session is None:
            return
        for sender, message in messages:
            if sender != SPACE:  # notices of the space do not cause messages to others
                for key in ((session, sender), (session, ANYBODY)):
                    self._shown[key] = _ShownAt(message, self._clock.monotonic())
                    self._shown.move_to_end(key)
        while len(self._shown) > MOST:
            self._shown.popitem(last=False)

    async def leading(self, session: SessionId | None, to: Sequence[Address]) -> MessageId | None:
        """Return the message that made a session's model write to the addressee, no matter which process showed it."""
        known = self.led_by(session, to)
        if known is not None or session is None:
            return known
        whom, since = _whom(to), self._clock.now() - timedelta(seconds=SECONDS)

        async def operation(tx: Transaction) -> MessageId | None:
            shown = [
                (copy.updated_at, copy.seq, copy.message_id)
                for copy in await tx.inboxes.waiting(session_inbox(session), SHOWN)
                if copy.updated_at > since and copy.sender != SPACE and whom in (copy.sender, ANYBODY)
            ]
            return max(shown)[2] if shown else None

        return await self._store.read(operation)

    def led_by(self, session: SessionId | None, to: Sequence[Address]) -> MessageId | None:
        """Return the message that this process last showed a session's model from the addressee; None if there is none,
        or if it was too long ago."""
        found = self._shown.get((session, _whom(to))) if session is not None else None
        return found.message if found is not None and self._clock.monotonic() - found.at < SECONDS else None


def _whom(to: Sequence[Address]) -> AgentName:
    if len(to) != 1 or to[0].kind in (AddressKind.EVERYONE, AddressKind.SESSION):
        return ANYBODY
    return AgentName(to[0].value) if to[0].kind is AddressKind.AGENT else parse_session_key(to[0].value).agent
