"""Names on a NATS server: the streams, buckets and subjects of a space. The server's permissions refer to them."""

import re
from typing import Final, NewType

from covey.core.errors import Invalid
from covey.core.names import AgentName

SpaceName = NewType("SpaceName", str)

_SPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")

ANYONE: Final = "_"
"""The principal of a connection that the server does not bind to an agent."""


def parse_space_name(text: object) -> SpaceName:
    """Parse the name of a space on a server."""
    if not isinstance(text, str) or not _SPACE.fullmatch(text):
        raise Invalid("space name", text, "use 1 to 64 of A-Z a-z 0-9 _ -")
    return SpaceName(text)


def log_subjects(space: SpaceName) -> str:
    """Return the subjects of the space's log, for all principals."""
    return f"covey.{space}.log.*"


def log_subject(space: SpaceName, principal: AgentName | str) -> str:
    """Return the subject on which one principal writes to the space's log."""
    return f"covey.{space}.log.{principal}"


def told_subjects(space: SpaceName) -> str:
    """Return the subjects on which the server publishes every entry of the log."""
    return f"covey.{space}.told.*"


def want_subjects(space: SpaceName) -> str:
    """Return the subjects on which processes ask for their turn to write."""
    return f"covey.{space}.want.*"


def want_subject(space: SpaceName, principal: AgentName | str) -> str:
    """Return the subject on which one principal asks for its turn."""
    return f"covey.{space}.want.{principal}"


def log_stream(space: SpaceName) -> str:
    """Return the stream that is the space's log."""
    return f"covey_{space}"


def lease_bucket(space: SpaceName) -> str:
    """Return the key-value bucket with the leases of live processes."""
    return f"covey_{space}"


def lease_stream(space: SpaceName) -> str:
    """Return the stream beneath the leases."""
    return f"KV_{lease_bucket(space)}"


def bulk_bucket(space: SpaceName) -> str:
    """Return the object store for data that is too large for a record of the log, such as contents of files."""
    return f"covey_{space}"


def bulk_stream(space: SpaceName) -> str:
    """Return the stream beneath the object store."""
    return f"OBJ_{bulk_bucket(space)}"


def snapshot_bucket(space: SpaceName) -> str:
    """Return the object store for snapshots of the log. Only the operator writes them, because a new machine trusts
    them."""
    return f"covey-snapshots_{space}"


def snapshot_stream(space: SpaceName) -> str:
    """Return the stream beneath the snapshots."""
    return f"OBJ_{snapshot_bucket(space)}"


INBOX_STREAM: Final = "AGENT_INBOX"
"""The account's stream that retains agent.inbox.> for a while, for programs that know only that subject."""
