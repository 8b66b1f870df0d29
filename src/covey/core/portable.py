"""Portable records: everything that a space holds, as it travels to another one."""

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
    """In the order in which they travel: none refers to one that comes later, and the journal comes before the records
    that it tells of, so that whoever acts on one of them adds to a journal that is whole. Only a file's content stands
    before the first message that it belongs to."""

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
    """Ids of messages that are gone, so that nobody uses them again; many at a time."""

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
