"""Lately: what a model was shown last from whom, so that what it says next is known to be led by that.

Models seldom name what they answer. Without this each message of theirs would begin a causal tree of its own, and no
storm could be told from many first messages. It is remembered in the process that shows mail and sends. Where another
process of the same session shows it, as the hooks of a client do, what the model has in hand says the same.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from covey.core.address import Address, AddressKind
from covey.core.delivery import DeliveryState
from covey.core.ids import MessageId, SessionId, session_inbox
from covey.core.names import SPACE, AgentName
from covey.core.session_key import parse_session_key
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction

SECONDS: Final = 600.0
"""What was shown longer ago leads to nothing any more: somebody else has made the model speak."""

MOST: Final = 1_000
"""How many are remembered; at the bound the oldest are forgotten."""

ANYBODY: Final = AgentName("*")

SHOWN: Final = frozenset({DeliveryState.OFFERED, DeliveryState.IN_CONTEXT})
"""What a model has in hand."""


class _Shown(NamedTuple):
    message: MessageId
    at: float


class Lately:
    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._shown: OrderedDict[tuple[SessionId, AgentName], _Shown] = OrderedDict()

    def shown(self, session: SessionId | None, messages: Iterable[tuple[AgentName, MessageId]]) -> None:
        """Remember what a session's model is shown: who sent it, and what, in its order."""
        if session is None:
            return
        for sender, message in messages:
            if sender != SPACE:  # what the space tells makes nobody speak to anybody
                for key in ((session, sender), (session, ANYBODY)):
                    self._shown[key] = _Shown(message, self._clock.monotonic())
                    self._shown.move_to_end(key)
        while len(self._shown) > MOST:
            self._shown.popitem(last=False)

    async def leading(self, session: SessionId | None, to: Sequence[Address]) -> MessageId | None:
        """Return what makes a session's model write to somebody, whichever process has shown it that."""
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
        """Return what a session's model was last shown by this process from whom it writes to; None where that is
        nothing, or long ago."""
        found = self._shown.get((session, _whom(to))) if session is not None else None
        return found.message if found is not None and self._clock.monotonic() - found.at < SECONDS else None


def _whom(to: Sequence[Address]) -> AgentName:
    if len(to) != 1 or to[0].kind in (AddressKind.EVERYONE, AddressKind.SESSION):
        return ANYBODY
    return AgentName(to[0].value) if to[0].kind is AddressKind.AGENT else parse_session_key(to[0].value).agent
