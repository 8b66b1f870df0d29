"""Required records: each lookup returns the record, or raises the error that says it is missing."""

import covey.ports as ports
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
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
from covey.core.ledger.message import Message
from covey.core.names import AgentName


async def known_agent(tx: "ports.Transaction", name: AgentName) -> Agent:
    """Return an agent. If there is none, raise OrphanInbox if mail waits for that name, otherwise RecipientUnknown with
    the closest names."""
    agent = await tx.agents.get(name)
    if agent is None:
        from covey.core.ledger.delivery import WAITING  # imported late because they are seldom needed
        from covey.core.text.wording import closest

        if waiting := await tx.inboxes.waiting(parked_inbox(name), WAITING):
            raise OrphanInbox(name, len(waiting))
        raise RecipientUnknown(name, closest(name, [known.name for known in await tx.agents.all()]))
    return agent


async def known_message(tx: "ports.Transaction", message_id: MessageId) -> Message:
    """Return a message. Raise MessagePruned if it was pruned, MessageUnknown if it never existed."""
    message = await tx.messages.get(message_id)
    if message is None:
        await check_not_pruned(tx, message_id)
        raise MessageUnknown(message_id)
    return message


async def check_not_pruned(tx: "ports.Transaction", message_id: MessageId) -> None:
    """Raise MessagePruned if the message was pruned."""
    if await tx.pruned.has(message_id):
        raise MessagePruned(message_id)


async def own_session(tx: "ports.Transaction", actor: Identity) -> Session:
    """Return the session that the actor acts from. Raise SessionEnded if it is over."""
    session = await tx.sessions.get(actor.session) if actor.session else None
    if session is None or session.agent != actor.agent:
        raise SessionUnknown(actor.session or "of " + actor.agent)
    if session.has_ended:
        raise SessionEnded(session.id, session.end_reason or "left")
    return session


class OwnSessions:
    """A cache of actors whose sessions were verified at one directory version (`Transaction.moment`), because a sender
    usually sends again."""

    def __init__(self) -> None:
        self._moment: int | None = None
        self._found: set[Identity] = set()

    def has(self, actor: Identity, moment: int) -> bool:
        """Tell whether the actor's session was verified at this directory version, and need not be looked up again."""
        return moment == self._moment and actor in self._found

    async def check(self, tx: "ports.Transaction", actor: Identity) -> None:
        """Verify the actor's session and cache the result. Raise the errors of `own_session`."""
        await own_session(tx, actor)
        if tx.moment != self._moment:
            self._moment = tx.moment
            self._found = set()
        self._found.add(actor)
