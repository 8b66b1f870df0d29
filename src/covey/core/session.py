"""The session: one live run of an agent, and how the others know that it is live."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from covey.core.capacity import DEFAULT_CAPACITY, Capacity
from covey.core.ids import InboxId, SessionId, session_inbox
from covey.core.names import AgentName, Label
from covey.core.session_key import SessionKey


class SessionKind(StrEnum):
    ATTACHED = "attached"
    """A process holds a lock that the kernel drops when it dies."""

    CLIENT = "client"
    """Bound to a client's process id and start time; each hook and tool call touches it."""

    LEASED = "leased"
    """Known by its heartbeat alone: no lock and no process that this machine can see."""


class Activity(StrEnum):
    IDLE = "idle"
    BUSY = "busy"


class Holder(NamedTuple):
    """What keeps a session alive: a lock's name, or a process by id and start."""

    lock: str | None = None
    pid: int | None = None
    started: str | None = None


class Session(NamedTuple):
    id: SessionId
    key: SessionKey
    agent: AgentName
    kind: SessionKind
    holder: Holder
    secret_hash: str
    joined_at: datetime
    seen_at: datetime
    lease: timedelta
    activity: Activity = Activity.IDLE
    label: Label | None = None
    capacity: Capacity = DEFAULT_CAPACITY
    ended_at: datetime | None = None
    end_reason: str | None = None

    @property
    def inbox(self) -> InboxId:
        return session_inbox(self.id)

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None


def lease_holds(session: Session, now: datetime) -> bool:
    """Tell whether a heartbeat of the session is recent enough; a clock that jumped back does not end a lease."""
    return now - session.seen_at <= session.lease
