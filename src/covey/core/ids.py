"""Ids of records, inboxes and topics. The Ids port makes new ones; this module parses ids from outside."""

import re
from typing import NewType

from covey.core.errors import Invalid
from covey.core.names import AgentName, is_uuid_like, parse_agent_name

MessageId = NewType("MessageId", str)
"""<unix-ms>-<uuid>: sorts by time, unique under parallel writers."""

SessionId = NewType("SessionId", str)
"""A uuid."""

DeliveryId = NewType("DeliveryId", str)
"""<message id>.<n>, n counting the copies of the message from 1."""

OfferId = NewType("OfferId", str)
"""A uuid. It is also the nonce in the text that the model is shown."""

TicketId = NewType("TicketId", str)
"""<message id>@<agent that owes the answer>."""

InboxId = NewType("InboxId", str)
"""session:<session id>, or agent:<name> for mail that is parked with the agent."""

Topic = NewType("Topic", str)
"""The name of a wake-up that a waiter can listen for."""

JOURNAL_TOPIC = Topic("journal")

_TRACEPARENT = r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"  # not compiled here: few programs need it
_MESSAGE = re.compile(r"[0-9]{13}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def parse_message_id(text: object) -> MessageId:
    """Parse a message id."""
    if not isinstance(text, str) or not _MESSAGE.fullmatch(text):
        raise Invalid("message id", text, "use MILLISECONDS-UUID")
    return MessageId(text)


_DERIVED = "8"
"""The version of a UUID that is made by rules of one's own."""


def derived_message_id(milliseconds: int, digest: str) -> MessageId:
    """Return the id that the space derives from a message of a foreign program, the same each time. `digest` is a hash
    in hexadecimal."""
    uuid = f"{digest[:8]}-{digest[8:12]}-{_DERIVED}{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    return MessageId(f"{milliseconds:013d}-{uuid}")


def parse_new_message_id(text: object) -> MessageId:
    """Return `text` as the id that a sender chose for a new message. Ids that the space derives are Invalid: a sender
    that could take one would keep the foreign message out that the id is for."""
    chosen = parse_message_id(text)
    if chosen[28] == _DERIVED:
        raise Invalid(
            "message id", text, "use MILLISECONDS-UUID with a UUID of version 4; those of version 8 are derived"
        )
    return chosen


def parse_session_id(text: object) -> SessionId:
    """Parse a session id."""
    if not isinstance(text, str) or not is_uuid_like(text):
        raise Invalid("session id", text, "use a uuid")
    return SessionId(text.lower())


def parse_correlation_id(text: object) -> str:
    """Parse a correlation id: a uuid."""
    if not isinstance(text, str) or not is_uuid_like(text):
        raise Invalid("correlation id", text, "use a uuid")
    return text.lower()


def parse_traceparent(text: object) -> str:
    """Parse the context of a distributed trace (W3C traceparent)."""
    if not isinstance(text, str) or not re.fullmatch(_TRACEPARENT, text):
        raise Invalid("traceparent", text, "use VERSION-TRACE-PARENT-FLAGS in hex")
    return text


def parse_offer_id(text: object) -> OfferId:
    """Parse an offer id."""
    if not isinstance(text, str) or not is_uuid_like(text):
        raise Invalid("offer id", text, "use a uuid")
    return OfferId(text.lower())


def delivery_id(message_id: MessageId, n: int) -> DeliveryId:
    """Return the id of the `n`-th copy of a message."""
    return DeliveryId(f"{message_id}.{n}")


def delivery_message(delivery: DeliveryId) -> MessageId:
    """Return the id of the message that a delivery is a copy of."""
    return MessageId(delivery.rpartition(".")[0])


def ticket_message(ticket: TicketId) -> MessageId:
    """Return the id of the request that a ticket is for."""
    return MessageId(ticket.partition("@")[0])


def ticket_id(message_id: MessageId, debtor: AgentName) -> TicketId:
    """Return the id of the ticket of `debtor` for a message."""
    return TicketId(f"{message_id}@{debtor}")


def parse_ticket_id(text: object) -> TicketId:
    """Parse a ticket id."""
    if not isinstance(text, str) or "@" not in text:
        raise Invalid("ticket id", text, "use MESSAGE@AGENT")
    message_id, _, debtor = text.partition("@")
    return ticket_id(parse_message_id(message_id), parse_agent_name(debtor))


def session_inbox(session_id: SessionId) -> InboxId:
    """Return the inbox of a session."""
    return InboxId(f"session:{session_id}")


def parked_inbox(agent: AgentName) -> InboxId:
    """Return the inbox in which mail waits for the next session of an agent."""
    return InboxId(f"agent:{agent}")


def is_parked(inbox: InboxId) -> bool:
    """Tell whether an inbox belongs to an agent and not to a session."""
    return inbox.startswith("agent:")


def inbox_session(inbox: InboxId) -> SessionId | None:
    """Return the session that an inbox belongs to, or None for the inbox of an agent."""
    return None if is_parked(inbox) else SessionId(inbox.partition(":")[2])


def inbox_topic(inbox: InboxId) -> Topic:
    """Return the topic that rings when a delivery is placed in `inbox`."""
    return Topic(inbox)


def message_topic(message_id: MessageId) -> Topic:
    """Return the topic that rings when a delivery or a ticket of the message moves."""
    return Topic(f"message:{message_id}")
