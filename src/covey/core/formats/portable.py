"""Portable records: the content of a space, for transfer to another one, and the parser of each field of a record."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

from covey.core.channels.post import Binding, Post, PostState, parse_bound
from covey.core.checks import plain_object
from covey.core.directory.card import Agent, Capacity, parse_capacity, parse_card
from covey.core.directory.session import Activity, Session, SessionKind
from covey.core.errors import Invalid
from covey.core.identity import Grade, Identity, Token, parse_session_key
from covey.core.json import JsonObject
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Callback, Kind, Message
from covey.core.ledger.offer import EvidenceGrade, Offer, Presentation, parse_extent, parse_seen
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.ledger.wire import flag, member, natural, plain_text
from covey.core.names import (
    DeliveryId,
    InboxId,
    MessageId,
    delivery_id,
    known_scope,
    known_subject,
    parked_inbox,
    parse_agent_name,
    parse_label,
    parse_message_id,
    parse_offer_id,
    parse_session_id,
    parse_ticket_id,
    session_inbox,
)
from covey.core.times import parse_instant
from covey.core.work.run import LauncherKind, Run, RunMode, RunState, Stage, parse_run_id
from covey.core.work.task import Task, TaskState


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
    | DeliveryRecord
    | Task
    | Binding
    | Post
    | Run
)

Parse = Callable[[object], object]


class RecordForm(NamedTuple):
    """A kind of record, with a parser for each of its fields."""

    make: Callable[..., Any]
    fields: Mapping[str, Parse]
    defaults: Mapping[str, object]


def read_form(form: RecordForm, data: JsonObject, **others: object) -> Any:
    """Parse a record from JSON data. Raise Invalid if a field is wrong. Unknown fields are ignored."""
    values = dict(others)
    for name, parse in form.fields.items():
        value = data.get(name)
        if value is None and name in form.defaults:
            continue
        try:
            values[name] = parse(value)
        except Invalid as error:
            raise Invalid(name, value, error.rule) from None
    return form.make(**values)


def json_object(value: object) -> JsonObject:
    """Parse a field that is an object."""
    if not isinstance(value, Mapping):
        raise Invalid("object", value, "use a JSON object")
    return cast(JsonObject, value)


def parse_delivery_id(value: object) -> DeliveryId:
    """Parse a field that is the id of a delivery."""
    message_id, _, copy = plain_text(value).rpartition(".")
    if not copy.isascii() or not copy.isdecimal() or copy.startswith("0") or len(copy) > 9:
        raise Invalid("delivery id", value, "use <message id>.<number of the copy>")
    return delivery_id(parse_message_id(message_id), int(copy))


def _form(make: type[Any], **fields: Parse) -> RecordForm:
    return RecordForm(make, fields, make._field_defaults)


def _optional(parse: Parse) -> Parse:
    """Return a parser for a field that may be None although its record has no default for it."""
    return lambda value: None if value is None else parse(value)


def _list_of(parse: Parse) -> Parse:
    def read(value: object) -> object:
        if not isinstance(value, list):
            raise Invalid("list", value, "use a JSON list")
        return tuple(parse(item) for item in cast(list[object], value))

    return read


def _span(value: object) -> timedelta:
    return timedelta(microseconds=natural(value))


def _details(value: object) -> JsonObject:
    return plain_object(value, "details")


def _inbox(value: object) -> InboxId:
    owner, _, name = plain_text(value).partition(":")
    if owner == "agent":
        return parked_inbox(parse_agent_name(name))
    if owner == "session":
        return session_inbox(parse_session_id(name))
    raise Invalid("inbox", value, "use agent:<name> or session:<id>")


def _identity(value: object) -> Identity:
    return read_form(_IDENTITY, json_object(value))


def _capacity(value: object) -> Capacity:
    data = json_object(value)
    return parse_capacity(data.get("limit"), data.get("overflow"))


_IDENTITY: Final = _form(Identity, agent=parse_agent_name, session=parse_session_id, grade=member(Grade))
PRUNED: Final = _form(PrunedMessages, ids=_list_of(parse_message_id))
SETTING: Final = _form(Setting, name=plain_text, value=plain_text)
AGENT: Final = _form(Agent, name=parse_agent_name, card=parse_card, registered_at=parse_instant, status=plain_text)
TOKEN: Final = _form(
    Token,
    hash=plain_text,
    agent=parse_agent_name,
    created_at=parse_instant,
    revoked_at=parse_instant,
    note=plain_text,
    used_at=parse_instant,
)
EVENT: Final = _form(
    Event,
    action=member(Action),
    actor=_identity,
    at=parse_instant,
    message_id=parse_message_id,
    agent=parse_agent_name,
    scope=known_scope,
    details=_details,
    position=natural,
)
SESSION: Final = _form(
    Session,
    id=parse_session_id,
    key=parse_session_key,
    agent=parse_agent_name,
    kind=member(SessionKind),
    joined_at=parse_instant,
    seen_at=parse_instant,
    lease=_span,
    activity=member(Activity),
    label=parse_label,
    capacity=_capacity,
    ended_at=parse_instant,
    end_reason=plain_text,
    hooked_at=parse_instant,
    status=plain_text,
)
OFFER: Final = _form(
    Offer,
    id=parse_offer_id,
    session=parse_session_id,
    turn=plain_text,
    deliveries=_list_of(parse_delivery_id),
    offered_at=parse_instant,
    lease_until=parse_instant,
    presentation=member(Presentation),
    ended_at=parse_instant,
    end_reason=plain_text,
    lease=_span,
    extents=_list_of(parse_extent),
)
TICKET: Final = _form(
    Ticket,
    id=parse_ticket_id,
    message_id=parse_message_id,
    thread=parse_message_id,
    asker=parse_agent_name,
    debtor=parse_agent_name,
    state=member(TicketState),
    opened_at=parse_instant,
    asker_session=parse_session_id,
    scope=known_scope,
    subject=known_subject,
    due_at=parse_instant,
    answer=parse_message_id,
    trouble=member(TicketTrouble),
    awaits=parse_ticket_id,
    closed_at=parse_instant,
    close_reason=member(TicketMove),
)
DELIVERY: Final = _form(
    DeliveryRecord,
    id=parse_delivery_id,
    inbox=_inbox,
    agent=_optional(parse_agent_name),
    state=member(DeliveryState),
    kind=member(Kind),
    sender=parse_agent_name,
    expects_reply=flag,
    updated_at=parse_instant,
    seq=natural,
    number=natural,
    scope=known_scope,
    subject=known_subject,
    expires_at=parse_instant,
    offer=parse_offer_id,
    lease_until=parse_instant,
    grade=member(EvidenceGrade),
    reason=plain_text,
    archived_at=parse_instant,
    seen=parse_seen,
)
TASK: Final = _form(
    Task,
    id=parse_message_id,
    delegator=parse_agent_name,
    agent=parse_agent_name,
    state=member(TaskState),
    created_at=parse_instant,
    updated_at=parse_instant,
    delegator_session=parse_session_id,
    parent=parse_message_id,
    scope=known_scope,
    deadline=parse_instant,
    claimed_by=parse_session_id,
    attempt=natural,
    abandoned_at=parse_instant,
    is_told=flag,
    reason=plain_text,
    progress=parse_message_id,
    result=parse_message_id,
    finished_at=parse_instant,
)
BINDING: Final = _form(
    Binding, channel=parse_agent_name, conversation=plain_text, to=parse_bound, bound_at=parse_instant
)
POST: Final = _form(
    Post,
    id=parse_delivery_id,
    channel=parse_agent_name,
    conversation=plain_text,
    state=member(PostState),
    created_at=parse_instant,
    since=parse_instant,
    next_at=parse_instant,
    attempts=natural,
    error=plain_text,
)


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Invalid("seconds", value, "use a number of 0 or more")
    return float(value)


def _thread(value: object) -> Callback:
    texts = cast(list[object], value) if isinstance(value, list) else []
    if len(texts) not in (2, 3):  # older exports have two
        raise Invalid("thread", cast(object, value), "use a channel and a conversation")
    return Callback(*map(plain_text, texts))


RUN: Final = RecordForm(
    Run,
    {
        "id": parse_run_id,
        "session": parse_session_id,
        "key": parse_session_key,
        "agent": parse_agent_name,
        "parent_agent": parse_agent_name,
        "request": parse_message_id,
        "mode": member(RunMode),
        "launcher": member(LauncherKind),
        "state": member(RunState),
        "started_at": parse_instant,
        "parent": parse_session_id,
        "sibling_of": parse_session_id,
        "label": parse_label,
        "description": plain_text,
        "time_limit": _seconds,
        "thread": _thread,
        "stage": member(Stage),
        "stop_reason": plain_text,
        "reason": plain_text,
        "ended_at": parse_instant,
        "is_told": flag,
    },
    Run._field_defaults,
)
"""All fields but the folder, which is not exported."""
