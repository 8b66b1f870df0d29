"""Portable records: the content of a space, for transfer to another one."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.channels.binding import Binding
from covey.core.channels.post import Post
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.directory.token import Token
from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.work.run import Run
from covey.core.work.task import Task


class RecordKind(StrEnum):
    """The kinds of records, in the order of an export. No record refers to a later one. The journal comes before the
    records that it describes, so that a program that acts on one of them appends to a complete journal. The content of
    a file comes right before the first message that refers to it."""

    AGENT = "agent"
    SETTING = "setting"
    TOKEN = "token"
    EVENT = "event"
    SESSION = "session"
    OFFER = "offer"
    PRUNED = "pruned"
    BLOB = "blob"
    MESSAGE = "message"
    TICKET = "ticket"
    DELIVERY = "delivery"
    TASK = "task"
    BINDING = "binding"
    POST = "post"
    RUN = "run"


class NumberedAgent(NamedTuple):
    """An agent, and the last number that was given to a message for it."""

    agent: Agent
    numbered: int = 0


class Setting(NamedTuple):
    name: str
    value: str


class Blob(NamedTuple):
    """The content of a file part."""

    digest: str
    content: bytes


class PrunedMessages(NamedTuple):
    """A batch of ids of pruned messages, which must not be used again."""

    ids: tuple[MessageId, ...]


class FiledMessage(NamedTuple):
    message: Message
    is_swept: bool = False


Record = (
    NumberedAgent
    | Setting
    | Token
    | Event
    | Session
    | Offer
    | PrunedMessages
    | Blob
    | FiledMessage
    | Ticket
    | Delivery
    | Task
    | Binding
    | Post
    | Run
)
