"""The journal's events: the action, its actor and the records it concerns; and typed reads of an event's details. Wrong
details raise Invalid, so that a reader of a damaged journal can go on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.offer import Extent, parse_extent
from covey.core.names import AgentName, MessageId, Scope


class Action(StrEnum):
    AGENT_REGISTERED = "agent.registered"
    AGENT_STATUS = "agent.status"
    SESSION_JOINED = "session.joined"
    SESSION_ACTIVITY = "session.activity"
    SESSION_ENDED = "session.ended"
    MESSAGE_SENT = "message.sent"
    """Details: one entry for each delivery (id, inbox, state, reason), and the ids of the tickets it opened."""
    MESSAGE_DAMAGED = "message.damaged"
    """The stored content of a waiting message is not the accepted one. Details: delivery, reason."""
    MESSAGE_SWEPT = "task-swept"
    MESSAGES_PRUNED = "messages.pruned"
    """The tombstone of closed messages that were removed with their events. Details: the numbers of messages,
    deliveries, tickets, offers, events, tasks and posts; the first and the last id, and the fingerprint of all ids."""
    SPACE_IMPORTED = "space.imported"
    """Details: the hash of the export, when it was made, the position up to which it is complete, and its records."""
    SPACE_RESTORED = "space.restored"
    """Details: when the backup was made, and the position up to which it is complete."""
    DELIVERY_MOVED = "delivery.moved"
    """Details: delivery, from, move, to, reason."""
    DELIVERY_PLACED = "delivery.placed"
    """Details: delivery, inbox: parked with the agent, or adopted by a session."""
    DELIVERY_ARCHIVED = "delivery.archived"
    OFFER_MADE = "offer.made"
    OFFER_RENEWED = "offer.renewed"
    OFFER_ENDED = "offer.ended"
    EVIDENCE = "evidence"
    """Details: offer or message, deliveries, grade, basis."""
    TICKET_OPENED = "ticket.opened"
    """Only for a debt that begins later than its request, when a session takes up mail sent to its id earlier."""
    TICKET_MOVED = "ticket.moved"
    TICKET_TROUBLED = "ticket.troubled"
    TICKET_PASSED = "ticket.passed"
    """A question back moved the debt to the other side, or its answer moved the debt back."""
    TASK_MOVED = "task.moved"
    """Details: from, move, to, reason, the id of the update that reports the move, attempt, session. The message is the
    task's; the agent is the one that the task is for."""
    TASK_CLAIMED = "task.claimed"
    """One session has taken the task. Details: session, attempt."""
    TASK_RELEASED = "task.released"
    """The session that had the task has ended. Details: session, attempt, state."""
    POST_MOVED = "post.moved"
    """Details: post, conversation, from, move, to, attempts, error. The agent is the channel. Claiming a post is no
    event: no other record depends on the claim."""
    CHANNEL_BOUND = "channel.bound"
    """Details: conversation, to. The agent is the channel."""
    CHANNEL_UNBOUND = "channel.unbound"
    """Details: conversation, to."""
    SPAWN_STAGE = "spawn.stage"
    """A stage of a spawn is finished. Details: run, stage, session, key; with stage `session`, also the fields of the
    run."""
    SPAWN_UNDONE = "spawn.undone"
    """A stage was rolled back, because a later one failed. Details: run, stage."""
    RUN_MOVED = "run.moved"
    """Details: run, from, move, to, reason. The message is the run's request; the agent is the child's."""
    RUN_STOPPING = "run.stopping"
    """A stop of the run was requested. Details: run, reason."""
    RUN_TOLD = "run.told"
    """The parent of a run that ended without an answer was told. Details: run, the id of the message that tells it."""
    RUN_CLEARED = "run.cleared"
    """The folder of a run that has ended is gone, with its attachments. Details: run."""
    GATE_FORCED = "gate.forced"
    STORM_STOPPED = "storm.stopped"
    """A causal tree reached a limit, or a talk had no news. Details: code and refusal, as in the error. The message is
    the root; the agent is the one that was refused first."""
    STORM_LIFTED = "storm.lifted"
    """The operator lets a tree go on. Details: tree, its number of messages."""
    PAUSE_BEGUN = "pause.begun"
    """The agent, or without one the whole space, receives and sends nothing. Details: reason."""
    PAUSE_ENDED = "pause.ended"
    TOKEN_CREATED = "token.created"
    TOKEN_REVOKED = "token.revoked"
    SETTING_CHANGED = "setting.changed"
    SPACE_MENDED = "space.mended"
    """Doctor fixed a finding for the actor. Details: the finding's code, its text and its subject."""


class Event(NamedTuple):
    action: Action
    actor: Identity
    at: datetime
    message_id: MessageId | None = None
    agent: AgentName | None = None
    """The agent that the event concerns."""
    scope: Scope | None = None
    details: Mapping[str, Json] = {}
    position: int = 0
    """The event's position in the journal. The store assigns it; it grows with every event, in commit order."""


T = TypeVar("T")


def known(value: T | None, name: str) -> T:
    """Return a value that every event of the kind must have. Raise Invalid if it is missing."""
    if value is None:
        raise Invalid(name, None, "every event of this kind has this field")
    return value


def text(details: Mapping[str, Json], name: str) -> str:
    """Return the text `name` of an event's details."""
    value = details.get(name)
    if not isinstance(value, str):
        raise Invalid(name, value, "it is not a text")
    return value


def count(details: Mapping[str, Json], name: str) -> int:
    """Return the count `name` of an event's details: a whole number that is not negative."""
    value = details.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Invalid(name, value, "it is not a count")
    return value


def agree(details: Mapping[str, Json], name: str, expected: str) -> None:
    """Raise Invalid if the value `name` of an event differs from the one that follows from earlier events."""
    found = text(details, name)
    if found != expected:
        raise Invalid(name, found, f"it would be {expected}")


def text_or_none(details: Mapping[str, Json], name: str) -> str | None:
    """Return the text `name` of an event's details, or None if it is missing."""
    return None if details.get(name) is None else text(details, name)


def texts(details: Mapping[str, Json], name: str) -> Sequence[str]:
    """Return the list of texts `name` of an event's details."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, str) for item in value):
        raise Invalid(name, value, "it is not a list of texts")
    return [item for item in value if isinstance(item, str)]


def entries(details: Mapping[str, Json], name: str) -> Sequence[Mapping[str, Json]]:
    """Return the list of objects `name` of an event's details."""
    value = details.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Invalid(name, value, "it is not a list")
    if not all(isinstance(item, Mapping) for item in value):
        raise Invalid(name, value, "it is not a list of objects")
    return [item for item in value if isinstance(item, Mapping)]


def extents(details: Mapping[str, Json], many: int) -> Sequence[Extent | None]:
    """Return the shown extent of each delivery, in their order. Events of older versions have no extents: return None
    for each."""
    value = details.get("extents")
    if value is None:
        return [None] * many
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != many:
        raise Invalid("extents", value, f"it is not a list of {many}")
    return [None if item is None else parse_extent(list(item) if isinstance(item, tuple) else item) for item in value]
