"""Ids and names that are derived for a shared folder: the same input always gives the same id."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from covey.core.errors import Invalid
from covey.core.formats.layout import Layout, Paper
from covey.core.ids import MessageId, derived_message_id
from covey.core.json import to_json
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
    """Return the id in the file of an agent's copy: the message's id, or, if several agents have copies, a separate id
    for each, with the same millisecond."""
    return message_id if is_only else f"{message_id[:13]}-{_uuid('copy', message_id, agent)}"


def derived_id(layout: Layout, owner: str, foreign_id: str, digest: str, millis: int) -> MessageId:
    """Return the id of the message that a foreign file becomes; `digest` is that of its content."""
    return derived_message_id(min(max(millis, 0), _MAX_MILLIS), _digest(layout, owner, foreign_id, digest))


def millis_of(paper: Paper, name: str) -> int:
    """Return the time of a foreign message in milliseconds, from its id, its time field or its file's name; else 0."""
    if own := _OWN_MILLIS.match(paper.id):
        return int(own[1])
    if paper.created_at is not None:
        return max((paper.created_at - EPOCH) // timedelta(milliseconds=1), 0)
    named = _NAME_TIME.match(name)
    if named is None:
        return 0
    return int(named[1]) * (1 if len(named[1]) == 13 else 1000)


def agent_of(name: str) -> AgentName:
    """Return the agent for a foreign name: the name itself if it is valid and not reserved, otherwise an alias."""
    with suppress(Invalid):
        if not is_reserved(name):
            return parse_agent_name(name)
    return alias_of(name)


def recipient_of(owner: str) -> AgentName:
    """Return the agent that owns a folder. Any program may write to the operator; as a sender, the operator's name gets
    an alias (`agent_of`)."""
    return OPERATOR if owner == OPERATOR else agent_of(owner)


def alias_of(name: str) -> AgentName:
    """Return the agent name for a foreign program whose own name can't be used."""
    return AgentName(f"foreign-{_digest(name)[:8]}")


def is_folder_name(name: str) -> bool:
    """Tell whether an agent's folder can have a name: a single safe component of a path that has no other use."""
    if not name or name.startswith(".") or name == REGISTRY_NAME or _ODD.search(name):
        return False
    try:
        return len(name.encode()) <= MAX_FOLDER_BYTES
    except UnicodeEncodeError:
        return False


def _uuid(*words: str) -> str:
    """Return a uuid that is derived from words: version 8, for custom schemes."""
    made = _digest(*words)
    return f"{made[:8]}-{made[8:12]}-8{made[13:16]}-8{made[17:20]}-{made[20:32]}"


def _digest(*words: str) -> str:
    from hashlib import sha256  # here because it brings OpenSSL, and every command looks at names of folders

    # Names of folders may contain bytes that are no valid UTF-8.
    return sha256(to_json(words).encode("utf-8", "surrogatepass")).hexdigest()
