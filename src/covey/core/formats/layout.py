"""Layouts of shared folders: the places of files, and the messages that foreign programs write there."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from covey.core.authority import KEPT_OUT
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState
from covey.core.ledger.message import Callback, Kind
from covey.core.ledger.ticket import Ticket, TicketState
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
    """The place of a file."""

    shelf: Shelf
    owner: str
    """The name of the agent's folder; "" in an archive that all agents share."""
    name: str
    """The name of the file."""
    scope: str = ""
    """With SWEPT: the name of the task's folder."""


class Paper(NamedTuple):
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
    spot: Spot
    is_ours: bool
    """False if a foreign program has written the file."""


class Copy(NamedTuple):
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


def standing(layout: Layout, copies: Sequence[Delivery], ticket: Ticket | None, *, is_swept: bool) -> Shelf | None:
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
