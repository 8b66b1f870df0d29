"""Folders that people read: where a copy of a message stands in them, and what a foreign program has put there."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.message import Callback, Kind
from covey.core.names import AgentName


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


class Spot(NamedTuple):
    """Where a file stands."""

    shelf: Shelf
    owner: str
    """The folder of an agent, as it is called there; "" in an archive that all agents share."""
    name: str
    """The file's."""
    scope: str = ""
    """With SWEPT: the folder of the task."""


class Paper(NamedTuple):
    """What a foreign program has written for one agent, as far as it can be understood. Names and ids are theirs."""

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
    """Absolute or other paths. A file is kept as it is now where its path is absolute and under a declared root."""
    task_id: str | None = None
    task_state: str | None = None
    deadline: datetime | None = None
    ttl: int | None = None
    trace: tuple[str, ...] = ()
    callback: Callback | None = None
    metadata: Mapping[str, Json] = {}
    to: str = ""
    """Whom it is for: the owner of the folder, or, in an archive that all agents share, whom it names."""


class Known(NamedTuple):
    """A file that stands for the copy of a message that an agent has."""

    file_id: str
    """The id in the file: the message's where it has one recipient, else one of its own for each."""
    message_id: MessageId
    agent: AgentName
    spot: Spot
    is_ours: bool
    """False where a foreign program has written it."""


class Copy(NamedTuple):
    """The copy of a message that an agent has, as foreign programs know it: names and ids are theirs."""

    file_id: str
    sender: str
    to: str
    in_reply_to: str | None = None
    """The id in the file that it answers."""
    task_id: str | None = None
    """Their id of the task that it is about; None where we gave it its id."""
    microsecond: int = 0
    number: int = 0
    """When the message was made, within its second, and its number in the inbox: names of files sort by them."""
