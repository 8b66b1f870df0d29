"""Required records: each lookup returns the record, or raises the error that says it is missing.

A damaged message is never shown as mail and does not block other mail: lists show a notice in its place."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import covey.ports as ports
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.errors import (
    MessageDamaged,
    MessagePruned,
    MessageUnknown,
    OrphanInbox,
    RecipientUnknown,
    SessionEnded,
    SessionUnknown,
)
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.names import AgentName, MessageId, parked_inbox


async def known_agent(tx: "ports.Transaction", name: AgentName) -> Agent:
    """Return an agent. If there is none, raise OrphanInbox if mail waits for that name, otherwise RecipientUnknown with
    the closest names."""
    agent = await tx.agents.get(name)
    if agent is None:
        from covey.core.ledger.delivery import WAITING  # imported late because they are seldom needed
        from covey.core.reporting import closest

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
    """A cache of actors whose sessions were verified at one `Transaction.directory_version`, because a sender usually
    sends again."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._found: set[Identity] = set()

    def has(self, actor: Identity, version: int) -> bool:
        """Tell whether the actor's session was verified at this directory version, and need not be looked up again."""
        return version == self._version and actor in self._found

    async def check(self, tx: "ports.Transaction", actor: Identity) -> None:
        """Verify the actor's session and cache the result. Raise the errors of `own_session`."""
        await own_session(tx, actor)
        if tx.directory_version != self._version:
            self._version = tx.directory_version
            self._found = set()
        self._found.add(actor)


async def message_or_notice(tx: "ports.Transaction", message_id: MessageId, at: datetime) -> Message:
    """Return a message for a list; for a damaged one, a notice by the space in its place."""
    try:
        return await known_message(tx, message_id)
    except MessageDamaged as error:
        return notice_of(error, message_id, at)


async def read_all(
    tx: "ports.Transaction", deliveries: Iterable[DeliveryRecord]
) -> tuple[Mapping[MessageId, Message], Sequence[DeliveryRecord]]:
    """Return the messages of deliveries, and the deliveries whose message is damaged."""
    messages: dict[MessageId, Message] = {}
    damaged: list[DeliveryRecord] = []
    for delivery in deliveries:
        try:
            messages[delivery.message_id] = await known_message(tx, delivery.message_id)
        except MessageDamaged:
            damaged.append(delivery)
    return messages, damaged


async def is_damaged(tx: "ports.Transaction", message_id: MessageId) -> bool:
    """Tell whether a message can't be shown because it is damaged."""
    try:
        await known_message(tx, message_id)
    except MessageDamaged:
        return True
    return False


def notice_of(error: MessageDamaged, message_id: MessageId, at: datetime) -> Message:
    """Return the notice that a list shows in the place of a damaged message. The notice is not stored."""
    return Message(
        id=message_id,
        kind=Kind.NOTIFY,
        sender=THE_SPACE,
        to=(),
        parts=(TextPart(f"{error.message[0].upper()}{error.message[1:]}. {error.advice}"),),
        created_at=at,
        thread=message_id,
        root=message_id,
        subject=None,
        scope=None,
        round=None,
        cause=None,
        in_reply_to=None,
        correlation_id=None,
        expects_reply=False,
        hops_left=0,
        trace=(),
        task=None,
        callback=None,
        deadline=None,
        expires_at=None,
        traceparent=None,
        metadata={},
        depth=0,
        marks=None,
    )
