"""Records that must be there: each of them, or the error that says it is not."""

import covey.ports as ports
from covey.core.card import Agent
from covey.core.errors import (
    MessagePruned,
    MessageUnknown,
    OrphanInbox,
    RecipientUnknown,
    SessionEnded,
    SessionUnknown,
)
from covey.core.identity import Identity
from covey.core.ids import MessageId, parked_inbox
from covey.core.message import Message
from covey.core.names import AgentName
from covey.core.session import Session


async def known_agent(tx: "ports.Transaction", name: AgentName) -> Agent:
    """Return an agent; where there is none OrphanInbox if mail waits for it, else RecipientUnknown with the names that
    are close to it."""
    agent = await tx.agents.get(name)
    if agent is None:
        from covey.core.delivery import WAITING  # here because they are seldom needed
        from covey.core.similar import closest

        if waiting := await tx.inboxes.waiting(parked_inbox(name), WAITING):
            raise OrphanInbox(name, len(waiting))
        raise RecipientUnknown(name, closest(name, [known.name for known in await tx.agents.all()]))
    return agent


async def known_message(tx: "ports.Transaction", message_id: MessageId) -> Message:
    """Return a message; MessageUnknown where there never was one, MessagePruned where there is none any more."""
    message = await tx.messages.get(message_id)
    if message is None:
        await check_not_pruned(tx, message_id)
        raise MessageUnknown(message_id)
    return message


async def check_not_pruned(tx: "ports.Transaction", message_id: MessageId) -> None:
    """Raise MessagePruned where there was such a message once."""
    if await tx.pruned.has(message_id):
        raise MessagePruned(message_id)


async def own_session(tx: "ports.Transaction", actor: Identity) -> Session:
    """Return the session the actor acts from; SessionEnded where it is over."""
    session = await tx.sessions.get(actor.session) if actor.session else None
    if session is None or session.agent != actor.agent:
        raise SessionUnknown(actor.session or "of " + actor.agent)
    if session.has_ended:
        raise SessionEnded(session.id, session.end_reason or "left")
    return session


class OwnSessions:
    """Those that were found to be their actors' own at one moment (`Transaction.moment`): who sends mostly sends
    again."""

    def __init__(self) -> None:
        self._moment: int | None = None
        self._found: set[Identity] = set()

    def has(self, actor: Identity, moment: int) -> bool:
        """Tell whether the actor's session was checked at this moment, and need not be looked up again."""
        return moment == self._moment and actor in self._found

    async def check(self, tx: "ports.Transaction", actor: Identity) -> None:
        """Raise what `own_session` raises."""
        await own_session(tx, actor)
        if tx.moment != self._moment:
            self._moment = tx.moment
            self._found = set()
        self._found.add(actor)
