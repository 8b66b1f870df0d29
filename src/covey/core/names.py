"""Names and ids. Names of agents, scopes, labels and subjects become paths and NATS subjects, so they are parsed once,
at the edge. Ids of records, inboxes and topics are made by the Ids port; this module parses ids from outside."""

import re
from typing import Final, NewType, cast

from covey.core.errors import Invalid
from covey.core.limits import MAX_FOREIGN_NAME_CHARS, MAX_SUBJECT_CHARS

AgentName = NewType("AgentName", str)
Scope = NewType("Scope", str)
Label = NewType("Label", str)
Subject = NewType("Subject", str)

OPERATOR: Final = AgentName("operator")
"""The person in charge. Only a token makes an operator."""

SPACE: Final = AgentName("covey")
"""The space itself, as the sender of notices."""

ROLES: Final = frozenset({"assistant", "developer", "function", "human", "model", "system", "tool", "user"})
"""Roles in the requests of model providers. A model would take an agent of such a name for something else."""

RESERVED: Final = frozenset({OPERATOR, SPACE}) | ROLES
"""Names that no agent and no label can have, in the normalized form that `is_reserved` compares."""

_AGENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCOPE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SUBJECT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UUID_LIKE = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")


def parse_agent_name(text: object) -> AgentName:
    """Parse the name of an agent. A name with the form of a uuid is refused, because session ids have it."""
    if not isinstance(text, str) or not _AGENT.fullmatch(text):
        raise Invalid("agent name", text, "use 1 to 64 of A-Z a-z 0-9 _ -")
    if _UUID_LIKE.fullmatch(text):
        raise Invalid("agent name", text, "the form of a uuid is kept for session ids")
    return AgentName(text)


def is_reserved(name: str) -> bool:
    """Tell whether a reader would take a name for a reserved one. Case, Unicode variants (NFKC) and dashes, underscores
    or dots around the name make no difference."""
    plain = name if name.isascii() else _normalized(name)
    return plain.casefold().strip("-_.") in RESERVED


def _normalized(name: str) -> str:
    from unicodedata import normalize  # imported late because names of agents are ASCII

    return normalize("NFKC", name)


def parse_scope(text: object) -> Scope:
    """Parse a scope."""
    if not isinstance(text, str) or not _SCOPE.fullmatch(text):
        raise Invalid("scope", text, "use 1 to 128 of A-Z a-z 0-9 . _ - and no leading dot")
    return Scope(text)


def parse_label(text: object) -> Label:
    """Parse the label of a session."""
    if not isinstance(text, str) or not _SCOPE.fullmatch(text):
        raise Invalid("label", text, "use 1 to 128 of A-Z a-z 0-9 . _ - and no leading dot")
    return Label(text)


def parse_subject(text: object) -> Subject:
    """Parse a subject: a topic in kebab-case, such as missing-test."""
    if not isinstance(text, str) or len(text) > MAX_SUBJECT_CHARS or not _SUBJECT.fullmatch(text):
        raise Invalid("subject", text, f"use kebab-case (such as missing-test), at most {MAX_SUBJECT_CHARS} characters")
    return Subject(text)


def known_scope(text: object) -> Scope:
    """Parse a scope that may exist: one that `parse_scope` accepts, or one of a foreign program."""
    if not _is_readable(text):
        raise Invalid("scope", text, f"use 1 to {MAX_FOREIGN_NAME_CHARS} printable characters")
    return Scope(cast(str, text))


def known_subject(text: object) -> Subject:
    """Parse a subject that may exist: one that `parse_subject` accepts, or one of a foreign program."""
    if not _is_readable(text):
        raise Invalid("subject", text, f"use 1 to {MAX_FOREIGN_NAME_CHARS} printable characters")
    return Subject(cast(str, text))


def _is_readable(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_FOREIGN_NAME_CHARS and text.isprintable()


def automatic_name(index: int) -> AgentName:
    """Return the automatic name number `index`: agentA … agentZ, agentAA …"""
    letters = ""
    index += 1
    while index > 0:
        index, digit = divmod(index - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return AgentName("agent" + letters)


def is_uuid_like(text: str) -> bool:
    """Tell whether `text` has the form of a uuid."""
    return _UUID_LIKE.fullmatch(text) is not None


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
