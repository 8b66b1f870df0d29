"""Ids and names between the ledger and a folder that foreign programs share: derived, so that twice gives the same."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from covey.core.compact import to_json
from covey.core.errors import Invalid
from covey.core.ids import MessageId, derived_message_id
from covey.core.layout import Layout, Paper
from covey.core.names import OPERATOR, AgentName, is_reserved, parse_agent_name

REGISTRY_NAME: Final = "_registry.json"
"""The registry of the mailbox layout, beside the folders of its agents."""

MAX_FOLDER_BYTES: Final = 255
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MAX_MILLIS = 10**13 - 1
_OWN_MILLIS = re.compile(r"([0-9]{13})-")
_NAME_TIME = re.compile(r"([0-9]{13}|[0-9]{10})(?![0-9])")
_ODD = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")


def file_id(message_id: MessageId, agent: AgentName, is_only: bool) -> str:
    """Return the id in the file of an agent's copy: the message's, or, where several agents have one, an own for each,
    of the same millisecond."""
    return message_id if is_only else f"{message_id[:13]}-{_uuid('copy', message_id, agent)}"


def derived_id(layout: Layout, owner: str, foreign_id: str, digest: str, millis: int) -> MessageId:
    """Return the id of the message that a foreign file becomes; `digest` is that of its content."""
    return derived_message_id(min(max(millis, 0), _MAX_MILLIS), _digest(layout, owner, foreign_id, digest))


def millis_of(paper: Paper, name: str) -> int:
    """Return when a foreign message was made, as far as its id, its time or the name of its file say; else 0."""
    if own := _OWN_MILLIS.match(paper.id):
        return int(own[1])
    if paper.created_at is not None:
        return max((paper.created_at - EPOCH) // timedelta(milliseconds=1), 0)
    named = _NAME_TIME.match(name)
    if named is None:
        return 0
    return int(named[1]) * (1 if len(named[1]) == 13 else 1000)


def agent_of(name: str) -> AgentName:
    """Return the agent that a foreign name stands for: its own where it can be one, and is kept for nobody else."""
    with suppress(Invalid):
        if not is_reserved(name):
            return parse_agent_name(name)
    return alias_of(name)


def recipient_of(owner: str) -> AgentName:
    """Return the agent whose folder it is. Anyone may write to the operator; who writes as one is somebody else."""
    return OPERATOR if owner == OPERATOR else agent_of(owner)


def alias_of(name: str) -> AgentName:
    """Return what a foreign program is called here whose own name is no name of an agent."""
    return AgentName(f"foreign-{_digest(name)[:8]}")


def is_folder_name(name: str) -> bool:
    """Tell whether a name can be that of an agent's folder: one harmless step of a path, and nobody else's place."""
    if not name or name.startswith(".") or name == REGISTRY_NAME or _ODD.search(name):
        return False
    try:
        return len(name.encode()) <= MAX_FOLDER_BYTES
    except UnicodeEncodeError:
        return False


def _uuid(*words: str) -> str:
    """Return words as a uuid, of the version that is kept for own rules."""
    made = _digest(*words)
    return f"{made[:8]}-{made[8:12]}-8{made[13:16]}-8{made[17:20]}-{made[20:32]}"


def _digest(*words: str) -> str:
    from hashlib import sha256  # here because it brings OpenSSL, and every command looks at names of folders

    # Those may have bytes in them that are no text.
    return sha256(to_json(words).encode("utf-8", "surrogatepass")).hexdigest()
