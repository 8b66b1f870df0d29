"""Portable records: the content of a space, for transfer to another one."""

from enum import StrEnum
from typing import NamedTuple

from covey.core.binding import Binding
from covey.core.card import Agent
from covey.core.delivery import Delivery
from covey.core.event import Event
from covey.core.ids import MessageId
from covey.core.message import Message
from covey.core.offer import Offer
from covey.core.post import Post
from covey.core.run import Run
from covey.core.session import Session
from covey.core.task import Task
from covey.core.ticket import Ticket
from covey.core.token import Token


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
