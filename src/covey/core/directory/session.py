"""The session: one live run of an agent, the signs of its liveness, and the agent client that it works for.

A client starts its MCP server and its hooks as separate programs, some of them through a shell or a launcher. The
client is the ancestor process that they have in common.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.directory.card import DEFAULT_CAPACITY, Capacity
from covey.core.identity import SessionKey
from covey.core.names import AgentName, InboxId, Label, SessionId, session_inbox


class SessionKind(StrEnum):
    ATTACHED = "attached"
    """A process holds a lock that the kernel releases when the process dies. If that process works for a client, the
    session outlives the process by the lease, so that it can be restarted; but the session never outlives the
    client."""

    CLIENT = "client"
    """The session is bound to a client's process id and start time; each hook and tool call renews it."""

    LEASED = "leased"
    """The session is known by its heartbeat: its process is not visible on this machine. If the session is served by a
    server, it does not outlive the server's lock."""

    WIRE = "wire"
    """A foreign program on the peers' wire, known by its last message there. Mail for it is published on the wire."""

    WIRE_ENVELOPE = "wire-envelope"
    """A foreign program that puts its messages into an envelope, and gets them in one."""

    REGISTRY = "registry"
    """A foreign program with a mailbox in a shared folder, known by its entry in the registry there."""


ON_WIRE: Final = frozenset({SessionKind.WIRE, SessionKind.WIRE_ENVELOPE})
"""Kinds of sessions that are foreign programs on the peers' wire."""

FOREIGN: Final = ON_WIRE | {SessionKind.REGISTRY}
"""Kinds of sessions that are foreign programs. Covey learns of them from their own messages; no program joins as
one."""


class Activity(StrEnum):
    IDLE = "idle"
    BUSY = "busy"


class Holder(NamedTuple):
    """The sign of a session's liveness: the name of a lock, a process by id and start time, or both. With both, the
    lock is that of the MCP server that acts for the session, and the process is the client that started the server."""

    lock: str | None = None
    pid: int | None = None
    started: str | None = None

    @property
    def server(self) -> "Holder | None":
        """A holder with the lock alone, or None."""
        return None if self.lock is None else Holder(lock=self.lock)

    @property
    def process(self) -> "Holder | None":
        """A holder with the process alone, or None."""
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
    """The time of the first call of a client's hook; None if the client has no hooks. Hooks show mail at better places
    than the results of tools."""
    status: str | None = None
    """The status that a child announced. The status of a main session is its agent's."""

    @property
    def inbox(self) -> InboxId:
        return session_inbox(self.id)

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None

    @property
    def is_on_wire(self) -> bool:
        """True if the session belongs to a foreign program on the peers' wire."""
        return self.kind in ON_WIRE

    @property
    def is_foreign(self) -> bool:
        """True if the session belongs to a foreign program."""
        return self.kind in FOREIGN


def lease_holds(session: Session, now: datetime) -> bool:
    """Tell whether the last heartbeat of the session is within its lease. A clock that jumps back does not end a
    lease."""
    return now - session.seen_at <= session.lease


class Ancestor(NamedTuple):
    """An ancestor process, with its name and the program that it runs. For a script, `name` is the script and `program`
    is its interpreter."""

    holder: Holder
    name: str
    program: str = ""


_SHELLS: Final = "ash bash busybox csh dash fish ksh mksh nu osh pwsh sh tcsh xonsh yash zsh"
_LAUNCHERS: Final = (
    "asdf chroot conda corepack direnv doas dumb-init env hatch make mamba micromamba mise nice nohup npm npx pdm "
    "pipenv pipx pixi pnpm poetry runuser rye script setsid stdbuf strace su sudo time timeout tini uv uvx xargs yarn"
)
_HOSTS: Final = (
    "agetty containerd-shim cron docker-init gnome-terminal- init kitty konsole launchd login screen sshd systemd tmux "
    "wezterm-gui xterm"
)
"""Programs that start shells for people. A program that is started there by hand works for no client. Kernels cut the
names of processes after 15 characters."""

_BETWEEN: Final = frozenset(f"{_SHELLS} {_LAUNCHERS}".split())
_INTERPRETERS: Final = frozenset(_SHELLS.split())
_ABOVE: Final = frozenset(_HOSTS.split())


def client_of(ancestors: Sequence[Ancestor]) -> Holder | None:
    """Return the process of the client: the nearest ancestor that is neither a shell nor a launcher. If a person
    started the program, return its nearest ancestor; without ancestors, return None."""
    for ancestor in ancestors:
        name = _plain(ancestor.name)
        if name in _ABOVE:
            break
        if name not in _BETWEEN and ancestor.program not in _INTERPRETERS:
            return ancestor.holder
    return ancestors[0].holder if ancestors else None


def _plain(name: str) -> str:
    """Return the name of a program without the additions of its process: `-bash`, `tmux: server`, `npm exec covey`."""
    first = name.removeprefix("-").partition(":")[0].split()
    return first[0] if first else ""
