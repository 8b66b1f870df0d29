"""The session: one live run of an agent, and how the others know that it is live."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.capacity import DEFAULT_CAPACITY, Capacity
from covey.core.ids import InboxId, SessionId, session_inbox
from covey.core.names import AgentName, Label
from covey.core.session_key import SessionKey


class SessionKind(StrEnum):
    ATTACHED = "attached"
    """A process holds a lock that the kernel drops when it dies. Where that process works for a client, the session
    outlives it by the lease, so that it can be started again; but never the client."""

    CLIENT = "client"
    """Bound to a client's process id and start time; each hook and tool call touches it."""

    LEASED = "leased"
    """Known by its heartbeat: there is no process of it that this machine can see. It may come through a server, and
    does not outlive the server's lock."""

    WIRE = "wire"
    """A foreign program on the peers' wire, known by its last message there. Mail for it is published on the wire."""

    WIRE_ENVELOPE = "wire-envelope"
    """A foreign program that puts its messages into an envelope, and gets them in one."""

    REGISTRY = "registry"
    """A foreign program with a mailbox in a shared folder, known by its entry in the registry there."""


ON_WIRE: Final = frozenset({SessionKind.WIRE, SessionKind.WIRE_ENVELOPE})
"""Kinds of sessions that are foreign programs on the peers' wire."""

FOREIGN: Final = ON_WIRE | {SessionKind.REGISTRY}
"""Kinds of sessions that are foreign programs: Covey learns of them from what they say, and nobody joins as one."""


class Activity(StrEnum):
    IDLE = "idle"
    BUSY = "busy"


class Holder(NamedTuple):
    """What keeps a session alive: a lock's name, a process by id and start, or both: the lock of the MCP server that
    acts for a session, and the process of the client that started the server."""

    lock: str | None = None
    pid: int | None = None
    started: str | None = None

    @property
    def server(self) -> "Holder | None":
        """The lock alone."""
        return None if self.lock is None else Holder(lock=self.lock)

    @property
    def process(self) -> "Holder | None":
        """The process alone."""
        return None if self.pid is None else Holder(pid=self.pid, started=self.started)


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
    hooked_at: datetime | None = None
    """When a hook of its client first came by; None where the client has no hooks. They show mail at better places than
    results of tools are."""
    status: str | None = None
    """What a child says that it is doing. A main session says it for its agent."""

    @property
    def inbox(self) -> InboxId:
        return session_inbox(self.id)

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None

    @property
    def is_on_wire(self) -> bool:
        """Whether the session belongs to a foreign program on the peers' wire."""
        return self.kind in ON_WIRE

    @property
    def is_foreign(self) -> bool:
        """Whether the session belongs to a foreign program."""
        return self.kind in FOREIGN


def lease_holds(session: Session, now: datetime) -> bool:
    """Tell whether a heartbeat of the session is recent enough; a clock that jumped back does not end a lease."""
    return now - session.seen_at <= session.lease
