"""The journal's entries: what happened, who did it, to what."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.names import AgentName, Scope


class Action(StrEnum):
    AGENT_REGISTERED = "agent.registered"
    AGENT_STATUS = "agent.status"
    SESSION_JOINED = "session.joined"
    SESSION_ACTIVITY = "session.activity"
    SESSION_ENDED = "session.ended"
    MESSAGE_SENT = "message.sent"
    """Details: one entry for each delivery (id, inbox, state, reason), and the ids of the tickets it opened."""
    MESSAGE_DAMAGED = "message.damaged"
    """What the store has of a message that waits is not what was accepted. Details: delivery, reason."""
    MESSAGE_SWEPT = "task-swept"
    MESSAGES_PRUNED = "messages.pruned"
    """The tombstone of what was closed and is gone, with its events. Details: how many messages, deliveries, tickets,
    offers, events, tasks and posts; the first and the last id, and the fingerprint of all ids."""
    SPACE_IMPORTED = "space.imported"
    """Details: the hash of the export, when it was made, the position up to which it is complete, and its records."""
    SPACE_RESTORED = "space.restored"
    """Details: when its backup was made, and the position up to which that is complete."""
    DELIVERY_MOVED = "delivery.moved"
    """Details: delivery, from, move, to, reason."""
    DELIVERY_PLACED = "delivery.placed"
    """Details: delivery, inbox: parked with the agent, or adopted by a session."""
    DELIVERY_ARCHIVED = "delivery.archived"
    OFFER_MADE = "offer.made"
    OFFER_RENEWED = "offer.renewed"
    OFFER_ENDED = "offer.ended"
    EVIDENCE = "evidence"
    """Details: offer or message, deliveries, grade, what it rests on."""
    TICKET_OPENED = "ticket.opened"
    """Only where a debt begins later than its request: with the session that takes up mail sent to its id before."""
    TICKET_MOVED = "ticket.moved"
    TICKET_TROUBLED = "ticket.troubled"
    TICKET_PASSED = "ticket.passed"
    """A question back moved the debt to the other side, or its answer moved it home."""
    TASK_MOVED = "task.moved"
    """Details: from, move, to, reason, the id of the update that tells it, attempt, session. The message is the
    task's; the agent is who is to do it."""
    TASK_CLAIMED = "task.claimed"
    """One session has taken it. Details: session, attempt."""
    TASK_RELEASED = "task.released"
    """The session that had it has ended. Details: session, attempt, state."""
    POST_MOVED = "post.moved"
    """Details: post, conversation, from, move, to, attempts, error. The agent is the channel. Taking one to carry it is
    no event: it changes nothing that anyone else relies on."""
    CHANNEL_BOUND = "channel.bound"
    """Details: conversation, to. The agent is the channel."""
    CHANNEL_UNBOUND = "channel.unbound"
    """Details: conversation, to."""
    SPAWN_STAGE = "spawn.stage"
    """A stage of a spawn is finished. Details: run, stage, session, key; with `session`, also what the run is to be."""
    SPAWN_UNDONE = "spawn.undone"
    """What a stage made was taken back, because a later one failed. Details: run, stage."""
    RUN_MOVED = "run.moved"
    """Details: run, from, move, to, reason. The message is its request; the agent is the child's."""
    RUN_STOPPING = "run.stopping"
    """Somebody wants a run to stop. Details: run, reason."""
    RUN_TOLD = "run.told"
    """The parent of a run that ended without an answer was told of it. Details: run, the id of what tells it."""
    RUN_CLEARED = "run.cleared"
    """The folder of a run that has ended is gone, with its attachments. Details: run."""
    GATE_FORCED = "gate.forced"
    STORM_STOPPED = "storm.stopped"
    """A causal tree came to a limit, or a talk said nothing new. Details: code, refusal: those of the error. The
    message is the root; the agent is who was refused first."""
    STORM_LIFTED = "storm.lifted"
    """The operator lets a tree go on. Details: tree, how many messages it had."""
    PAUSE_BEGUN = "pause.begun"
    """The agent, or without one the whole space, takes and sends nothing. Details: reason."""
    PAUSE_ENDED = "pause.ended"
    TOKEN_CREATED = "token.created"
    TOKEN_REVOKED = "token.revoked"
    SETTING_CHANGED = "setting.changed"
    SPACE_MENDED = "space.mended"
    """Somebody let the doctor mend a finding. Details: its code, what it was and what it was about."""


class Event(NamedTuple):
    action: Action
    actor: Identity
    at: datetime
    message_id: MessageId | None = None
    agent: AgentName | None = None
    """The agent it concerns."""
    scope: Scope | None = None
    details: Mapping[str, Json] = {}
    position: int = 0
    """Given by the store: grows with every event, in the order of the commits."""
