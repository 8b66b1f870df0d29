"""Layouts of shared folders: the places of files, the messages that foreign programs write there, and the ids and names
that are derived for them. The same input always gives the same id."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.authority import KEPT_OUT
from covey.core.errors import Invalid
from covey.core.json import Json, to_json
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState
from covey.core.ledger.message import Callback, Kind
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import OPERATOR, AgentName, MessageId, derived_message_id, is_reserved, parse_agent_name


class Layout(StrEnum):
    DIALOGUE = "dialogue"
    """inbox/<agent>/<id>.json, archive/<id>.json, archive/by-task/<task>/<id>.json, manifest.jsonl"""
    MAILBOX = "mailbox"
    """_registry.json, <agent>/inbox/<time>_<sender>….msg.json, <agent>/processed/…"""


class Shelf(StrEnum):
    INBOX = "inbox"
    ARCHIVE = "archive"
    """archive/ in one layout, <agent>/processed/ in the other."""
    SWEPT = "swept"
    """archive/by-task/<task>/; the mailbox layout has none."""


class FilePlace(NamedTuple):
    """The place of a file."""

    shelf: Shelf
    owner: str
    """The name of the agent's folder; "" in an archive that all agents share."""
    name: str
    """The name of the file."""
    scope: str = ""
    """With SWEPT: the name of the task's folder."""


class ForeignMessage(NamedTuple):
    """A message to one agent in a file of a foreign program, as far as it could be parsed. Names and ids are those of
    the foreign program."""

    id: str
    sender: str
    kind: Kind
    text: str
    created_at: datetime | None = None
    subject: str | None = None
    scope: str | None = None
    round: int | None = None
    expects_reply: bool = False
    in_reply_to: str | None = None
    data: tuple[Json, ...] = ()
    files: tuple[str, ...] = ()
    """Paths, absolute or not. The present content of a file is kept if its path is absolute and under a declared
    root."""
    task_id: str | None = None
    task_state: str | None = None
    deadline: datetime | None = None
    ttl: int | None = None
    trace: tuple[str, ...] = ()
    callback: Callback | None = None
    metadata: Mapping[str, Json] = {}
    to: str = ""
    """The recipient: the owner of the folder, or, in an archive that all agents share, the one that the file names."""


class KnownFile(NamedTuple):
    """A file that stands for an agent's copy of a message."""

    file_id: str
    """The id in the file: the message's id if it has one recipient, else a separate id for each."""
    message_id: MessageId
    agent: AgentName
    spot: FilePlace
    is_ours: bool
    """False if a foreign program has written the file."""


class FileCopy(NamedTuple):
    """An agent's copy of a message, with the names and ids that foreign programs use."""

    file_id: str
    sender: str
    to: str
    in_reply_to: str | None = None
    """The id in the file of the answered message."""
    task_id: str | None = None
    """The foreign program's id of the task that the message is about; None if Covey gave the task its id."""
    microsecond: int = 0
    number: int = 0
    """The microsecond at which the message was made, and its number in the inbox: names of files sort by them."""


_NOWHERE = KEPT_OUT | {DeliveryState.ACCEPTED}


def standing(
    layout: Layout, copies: Sequence[DeliveryRecord], ticket: Ticket | None, *, is_swept: bool
) -> Shelf | None:
    """Return the shelf for the copies of one agent; None if the agent never got the message, or it was withdrawn.

    In the dialogue layout, a request stays in the inbox until its debt is closed: an answer alone does not archive it.
    """
    arrived = [copy.state for copy in copies if copy.state not in _NOWHERE]
    if not arrived:
        return None
    if is_swept and layout is Layout.DIALOGUE:
        return Shelf.SWEPT
    is_owed = layout is Layout.DIALOGUE and ticket is not None and ticket.state is not TicketState.CLOSED
    return Shelf.INBOX if is_owed or any(state in WAITING for state in arrived) else Shelf.ARCHIVE


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


def millis_of(paper: ForeignMessage, name: str) -> int:
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
    from hashlib import sha256  # imported late because it brings OpenSSL, and every command looks at names of folders

    # Names of folders may contain bytes that are no valid UTF-8.
    return sha256(to_json(words).encode("utf-8", "surrogatepass")).hexdigest()
