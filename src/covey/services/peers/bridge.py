"""The bridge to the peers' wire: messages that foreign programs publish to the inbox of a live session become its mail.

Foreign senders are not authenticated, so that their grade is claimed. They pass acceptance like every sender: the rules
of the card, the limits of the inbox and the storm budgets hold. Several programs of a space may run a bridge: an
arrival has the same message id for all of them, and is accepted once.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from covey.core.directory.routing import WhenOffline
from covey.core.errors import CoveyError, IdentityRefused, Invalid, OperatorOnly, Rejected, Unavailable
from covey.core.formats.peers import Buffers, arrival_id, parse_inbox_message, parse_inbox_subject
from covey.core.identity import Address, AddressKind
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.limits import RECHECK_SECONDS, UNREGISTERED_WAIT
from covey.core.names import MessageId, SessionId
from covey.ports.channels import Arrival, Wire
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy
from covey.services.peers.foreign_agents import ForeignAgents
from covey.services.warning import debug, warn

_POLICY: Final = SendPolicy(when_offline=WhenOffline.REFUSE)
_KEPT: Final = UNREGISTERED_WAIT + timedelta(minutes=1)
_MOST_TOLD: Final = 100


class Bridge:
    def __init__(self, wire: Wire, store: Store, clock: Clock, mail: Mail) -> None:
        self._wire = wire
        self._store = store
        self._clock = clock
        self._mail = mail
        self._foreigners = ForeignAgents(store, clock)
        self._waiting: Buffers[Arrival] = Buffers(warn)
        self._after = 0
        self._told: set[str] = set()
        """Refused sender names that were already warned of."""

    async def check(self) -> None:
        """Raise OperatorOnly if this program may not receive messages of foreign programs."""
        if not await self._wire.may_receive():
            raise OperatorOnly("an agent's key", "receive messages of foreign programs")

    async def begin(self) -> None:
        """Ask the wire to keep everything published from now on until it is carried, because a peer may write to a
        session as soon as it hears of it. If the wire is unavailable, `run` tries again."""
        try:
            if await self._wire.may_receive():
                await self._wire.keep()
        except Unavailable as error:
            debug("can't receive from the peers' wire yet: %s", error.message)

    async def run(self, tell: Callable[[Sequence[MessageId]], None] | None = None) -> None:
        """Carry arrivals until cancelled. Return at once if the server's permissions bind this program to one agent."""
        is_heard = True
        while True:
            try:
                if not await self._wire.may_receive():
                    return
                accepted = await self.carry(RECHECK_SECONDS)
                if tell is not None:
                    tell(accepted)
                is_heard = True
            except Unavailable as error:  # raised at the wire's own timeout, so that this loop does not spin
                if is_heard:
                    warn("can't receive from the peers' wire now: %s", error.message)
                is_heard = False
                if not error.retryable:
                    return

    async def carry(self, seconds: float = 0) -> Sequence[MessageId]:
        """Accept the arrivals for sessions of this space, also earlier ones. Return the ids of the accepted
        messages."""
        for arrival in await self._wire.arrivals(self._after, seconds):
            self._after = max(self._after, arrival.seq)
            self._file(arrival)
        accepted: list[MessageId] = []
        goals = self._waiting.unregistered
        for goal in await self._store.read(lambda tx: _known(tx, goals)) if goals else ():
            waiting = self._taken(goal)
            try:
                while waiting:
                    if (message_id := await self._accept(goal, waiting[0])) is not None:
                        accepted.append(message_id)
                    waiting = waiting[1:]
            finally:
                for arrival in waiting:  # the space can't take them now: keep them for the next call
                    self._waiting.put(goal, arrival)
        self._drop_old()
        return accepted

    def _file(self, arrival: Arrival) -> None:
        if arrival.is_ours:
            return
        try:
            goal = parse_inbox_subject(arrival.subject)
            parse_inbox_message(arrival.payload)
        except Rejected as error:
            self._drop(arrival, error)
            return
        self._waiting.put(goal, arrival._replace(payload=b""))  # the broker keeps the payload

    def _drop(self, arrival: Arrival, error: Rejected) -> None:
        """Log why a message is dropped. A refused sender name is a warning, once, because its owner can change it."""
        is_name = isinstance(error, Invalid) and error.details.get("what") == "from_agent_id"
        say = debug
        if is_name and error.message not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(error.message)
            say = warn
        say("dropped a message on %s: %s", arrival.subject[:80], error.message)

    async def _accept(self, goal: SessionId, arrival: Arrival) -> MessageId | None:
        message_id = arrival_id(arrival.at, self._wire.stream, arrival.seq)
        if await self._store.read(lambda tx: tx.messages.get(message_id)) is not None:
            return None
        whole = await self._wire.arrival(arrival.seq)
        if whole is None:
            return None
        message = parse_inbox_message(whole.payload)
        draft = Draft(
            Kind.NOTIFY,
            (Address(AddressKind.SESSION, goal),),
            (TextPart(message.body),),
            id=message_id,
            correlation_id=message.correlation_id,
        )
        try:
            sender = await self._foreigners.greet(message)
            receipt = await self._mail.send(draft, sender, _POLICY, made_at=message.sent_at)
        except Unavailable:
            raise
        except IdentityRefused as error:
            warn("refused a message from %s to %s: %s", message.from_agent_id, goal, error.message)
            return None
        except CoveyError as error:
            debug("refused a message from %s to %s: %s", message.from_agent_id, goal, error.message)
            return None
        for line in receipt.refused:
            debug("refused a message from %s to %s: %s", message.from_agent_id, goal, line.reason)
        return message_id if receipt.delivered else None

    def _drop_old(self) -> None:
        """Drop arrivals whose session has not been registered in time."""
        oldest = self._clock.now() - _KEPT
        for goal in self._waiting.unregistered:
            for arrival in self._taken(goal):
                if arrival.at > oldest:
                    self._waiting.put(goal, arrival)

    def _taken(self, goal: SessionId) -> Sequence[Arrival]:
        """Remove and return the arrivals that wait for a session."""
        waiting = self._waiting.register(goal).drain()
        self._waiting.forget(goal)
        return waiting


async def _known(tx: Transaction, goals: Sequence[SessionId]) -> Sequence[SessionId]:
    """Return the ids that are sessions of this space, without those of foreign programs."""
    sessions = [await tx.sessions.get(goal) for goal in goals]
    return [session.id for session in sessions if session is not None and not session.is_on_wire]
