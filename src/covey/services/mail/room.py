"""Room in an inbox: the mail that is evicted when it is full, and the limit that a toolkit sets for its session's
inbox."""

from covey.core.directory.capacity import EVICTION_ORDER, Capacity
from covey.core.directory.routing import Refusal, RefusalCode
from covey.core.identity import Identity
from covey.core.ids import InboxId, SessionId, ticket_id
from covey.core.ledger.delivery import Delivery, Move
from covey.core.ledger.ticket import Trouble
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.known import own_session
from covey.services.mail.notices import report_trouble
from covey.services.mail.updates import NoticePorts
from covey.services.warning import warn


class InboxLimits:
    """Limits of sessions' inboxes, set by the toolkits that their models use."""

    def __init__(self, store: Store, clock: Clock, desk: NoticePorts) -> None:
        self._store = store
        self._clock = clock
        self._desk = desk
        self._held: dict[SessionId, Capacity] = {}
        """The limits that this process has applied."""

    async def hold(self, actor: Identity, capacity: Capacity) -> None:
        """Limit the inbox of the actor's session. Mail over the limit is evicted at once. An actor without a session
        has no inbox of its own, and nothing happens."""
        if actor.session is None or self._held.get(actor.session) == capacity:
            return
        evicted: list[Delivery] = []

        async def operation(tx: Transaction) -> None:
            evicted.clear()
            session = await own_session(tx, actor)
            if session.capacity != capacity:
                await tx.sessions.put(session._replace(capacity=capacity))
            act = Act(tx, actor, self._clock.now())
            await make_room(act, session.inbox, capacity, self._desk, evicted, incoming=0)

        await self._store.commit(operation)
        self._held[actor.session] = capacity
        warn_of(evicted)


def warn_of(evicted: list[Delivery]) -> None:
    """Log a warning for each evicted message."""
    for victim in evicted:
        warn("message %s was evicted from %s, which was full", victim.message_id, victim.inbox)


async def make_room(
    act: Act, inbox: InboxId, capacity: Capacity, desk: NoticePorts, evicted: list[Delivery], *, incoming: int = 1
) -> Refusal | None:
    """Make room in the inbox for incoming mail, or return a refusal that it is full. Evicted deliveries are added to
    `evicted`."""
    while await act.tx.inboxes.queued(inbox) + incoming > capacity.limit:
        victim = None
        for kinds in EVICTION_ORDER[capacity.overflow]:
            victim = victim or await act.tx.inboxes.oldest(inbox, kinds)
        if victim is None:
            return Refusal(RefusalCode.INBOX_FULL, f"the inbox holds its limit of {capacity.limit}")
        await _evict(act, victim, capacity, desk)
        evicted.append(victim)
    return None


async def _evict(act: Act, victim: Delivery, capacity: Capacity, desk: NoticePorts) -> None:
    await shift(act, victim, Move.EVICT, f"the inbox held its limit of {capacity.limit}")
    if victim.expects_reply and victim.agent is not None:
        copies = await act.tx.deliveries.of_message(victim.message_id)
        if all(copy.is_terminal for copy in copies if copy.agent == victim.agent):
            ticket = await act.tx.tickets.get(ticket_id(victim.message_id, victim.agent))
            if ticket is not None:
                await report_trouble(act, ticket, Trouble.EVICTED, desk.ids, desk.liveness)
