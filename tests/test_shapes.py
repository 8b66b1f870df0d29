"""Shapes: every field of every record survives each way that a record is written, and the CLI's JSON shows it.

No test names the fields that it checks. A field that is added to a record fails here wherever it is dropped.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.channels.post import Binding, Post
from covey.core.coroutine import finish
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.formats.export import decode_record, encode_record, kind_of
from covey.core.formats.portable import FiledMessage, NumberedAgent, Record
from covey.core.identity import THE_SPACE, Token
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.event import Event
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.waits import Wait
from covey.core.ledger.wire import FIELDS, decode, encode, encode_object
from covey.core.names import delivery_message, ticket_id
from covey.core.storms.budget import Tree
from covey.core.storms.flow import Flow
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.tasks.tasks import TaskView
from covey.services.transfer.imports import apply
from covey.surfaces.cli.children.runs import run_document, session_document
from covey.surfaces.cli.tasks.records import task_document
from covey.surfaces.cli.views.debts import ticket_document
from covey.surfaces.cli.views.documents import delivery_document, message_document
from covey.surfaces.cli.views.events import event_document
from covey.testing.records import START, a_message, a_message_id
from tests.core.filled import filled


class Shape(NamedTuple):
    """A kind of record, and its intended exceptions."""

    kind: type[Any]
    given_by_store: Collection[str] = ()
    """Fields that a store sets itself."""
    left_behind: Collection[str] | None = ()
    """Fields that an export leaves out because they only mean something on their machine.

    None if an export has no such records.
    """


SHAPES: Final = (
    Shape(Message),
    Shape(DeliveryRecord, given_by_store={"seq"}),
    Shape(Ticket),
    Shape(Task),
    Shape(Run, left_behind={"folder"}),
    Shape(Session, left_behind={"holder", "secret_hash"}),
    Shape(Offer),
    Shape(Post, left_behind={"holder"}),
    Shape(Binding),
    Shape(Agent),
    Shape(Token),
    Shape(Event, given_by_store={"position"}),
    Shape(Wait, left_behind=None),
    Shape(Tree, left_behind=None),
    Shape(Flow, left_behind=None),
)
Stored = (
    Message
    | DeliveryRecord
    | Ticket
    | Task
    | Run
    | Session
    | Offer
    | Post
    | Binding
    | Agent
    | Token
    | Event
    | Wait
    | Tree
    | Flow
)


async def write(tx: Transaction, record: Stored) -> None:
    """Write a record into its collection."""
    match record:
        case Message():
            await tx.messages.add(record, encode(record))
        case DeliveryRecord():
            await tx.deliveries.place(record)
        case Ticket():
            await tx.tickets.put(record)
        case Task():
            await tx.tasks.put(record)
        case Run():
            await tx.runs.put(record)
        case Session():
            await tx.sessions.put(record)
        case Offer():
            await tx.offers.put(record)
        case Post():
            await tx.posts.put(record)
        case Binding():
            await tx.bindings.put(record)
        case Agent():
            await tx.agents.put(record)
        case Token():
            await tx.tokens.put(record)
        case Event():
            await tx.journal.append(record)
        case Wait():
            await tx.waits.put(record)
        case Tree():
            await tx.trees.put(record)
        case Flow():
            await tx.flows.put(record)


async def read(tx: Transaction, record: Stored) -> Stored | None:
    """Return the stored record with the key of `record`."""
    match record:
        case Message():
            return await tx.messages.get(record.id)
        case DeliveryRecord():
            return await tx.deliveries.get(record.id)
        case Ticket():
            return await tx.tickets.get(record.id)
        case Task():
            return await tx.tasks.get(record.id)
        case Run():
            return await tx.runs.get(record.id)
        case Session():
            return await tx.sessions.get(record.id)
        case Offer():
            return await tx.offers.get(record.id)
        case Post():
            return await tx.posts.get(record.id)
        case Binding():
            return await tx.bindings.get(record.channel, record.conversation)
        case Agent():
            return await tx.agents.get(record.name)
        case Token():
            return await tx.tokens.get(record.hash)
        case Event():
            return (await tx.journal.read(0, 1))[0]
        case Wait():
            return (await tx.waits.of(record.asker))[0]
        case Tree():
            return await tx.trees.get(record.root)
        case Flow():
            return await tx.flows.get(record.source, record.target)


class Document(NamedTuple):
    """A record in the CLI's JSON."""

    kind: type[Any]
    make: Callable[[Any], Mapping[str, Json]]
    names: Mapping[str, str]
    """JSON keys of the fields whose key is not their name."""
    omitted: Mapping[str, str]
    """Fields that no key shows, each with the reason."""


def _name(of: Shape | Document) -> str:
    return of.kind.__name__


EVERY_SHAPE: Final = pytest.mark.parametrize("shape", SHAPES, ids=_name)


def record_of(kind: type[Any]) -> Any:
    """Return a record with every field set. Ids that are derived from other fields match those fields."""
    record = filled(kind)
    if kind in (DeliveryRecord, Post):
        return record._replace(message_id=delivery_message(record.id))
    if kind is Ticket:
        return record._replace(id=ticket_id(record.message_id, record.debtor))
    if kind is Run:  # the thread is a conversation of the space, which has no fields of a foreign program
        return record._replace(thread=record.thread._replace(more=""))
    return record


def differing(one: Any, other: Any) -> set[str]:
    """Return the fields in which two records differ."""
    return {name for name in one._fields if getattr(one, name) != getattr(other, name)}


@EVERY_SHAPE
def test_the_tests_fill_every_field_with_something_else_than_its_default(shape: Shape) -> None:
    record = record_of(shape.kind)
    empty = {name for name in record._fields if getattr(record, name) in (None, "", (), {}, False)}
    usual = {name for name, default in record._field_defaults.items() if getattr(record, name) == default}
    # A flag that is true by default is false here.
    assert {name for name in empty | usual if not record._field_defaults.get(name)} == set()


@EVERY_SHAPE
@pytest.mark.parametrize("engine", ["memory", "sqlite"])
def test_every_field_survives_a_store(shape: Shape, engine: str, tmp_path: Path) -> None:
    record = record_of(shape.kind)
    store = MemoryStore() if engine == "memory" else SqliteStore(tmp_path / "covey.db")
    try:
        finish(store.commit(lambda tx: write(tx, record)))
        found = finish(store.read(lambda tx: read(tx, record)))
    finally:
        finish(store.close())
    assert differing(record, found) <= set(shape.given_by_store)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.left_behind is not None], ids=_name)
def test_every_field_survives_an_export_except_the_machine_specific_ones(shape: Shape) -> None:
    record = record_of(shape.kind)
    assert differing(record, _travelled(record)) == set(shape.left_behind or ())


def _travelled(record: Any) -> Any:
    travels: Record = record
    if isinstance(record, Message):
        travels = FiledMessage(record)
    elif isinstance(record, Agent):
        travels = NumberedAgent(record)
    arrived = decode_record(kind_of(travels), encode_record(travels))
    if isinstance(arrived, FiledMessage):
        return arrived.message
    return arrived.agent if isinstance(arrived, NumberedAgent) else arrived


def test_every_field_of_a_message_survives_an_import(tmp_path: Path) -> None:
    message = filled(Message)
    store = SqliteStore(tmp_path / "covey.db")
    try:
        finish(store.commit(lambda tx: apply(Act(tx, THE_SPACE, START), FiledMessage(message), {})))
        found = finish(store.read(lambda tx: tx.messages.get(message.id)))
    finally:
        finish(store.close())
    assert found == message


def test_every_field_of_a_message_survives_the_wire_under_a_name_of_its_own() -> None:
    message = filled(Message)
    assert differing(message, decode(encode(message))) == set()
    assert set(encode_object(message)) == {"v", *FIELDS}


@pytest.mark.parametrize("answered", [None, a_message(kind=Kind.REQUEST)], ids=["first", "reply"])
def test_every_field_of_a_draft_gets_into_its_message(answered: Message | None) -> None:
    named_otherwise = {"id", "relaying", "led_by"}  # the id is an argument; the other two become the cause
    draft = filled(Draft)._replace(kind=Kind.REQUEST)
    composed = compose(draft, THE_SPACE, a_message_id(99), START, answered)
    assert set(Draft._fields) - named_otherwise <= set(Message._fields)
    assert {name for name in draft._fields if name not in named_otherwise} & differing_fields(draft, composed) == set()


def differing_fields(draft: Draft, composed: Message) -> set[str]:
    return {name for name in draft._fields if getattr(draft, name) != getattr(composed, name, None)}


def _task_document(task: Task) -> Mapping[str, Json]:
    return task_document(TaskView(task, filled(Message)))


def _session_document(session: Session) -> Mapping[str, Json]:
    return session_document(session, "about")


_OF_THE_MESSAGE: Final = "the message, which is shown with its deliveries, says the same"
_BOOKKEEPING: Final = "it only keeps the space from telling twice"
DOCUMENTS: Final[Sequence[Document]] = (
    Document(Message, message_document, {"sender": "from", "hops_left": "ttl"}, {}),
    Document(
        DeliveryRecord,
        delivery_document,
        {"id": "delivery", "inbox": "session", "grade": "evidence", "seen": "shown"},
        {
            "seq": "an order within the store, which changes when the delivery is placed again",
            "expires_at": "the inbox shows a delivery and its message in one object, where the message's stands",
            **dict.fromkeys(("message_id", "kind", "sender", "expects_reply", "scope", "subject"), _OF_THE_MESSAGE),
        },
    ),
    Document(Ticket, ticket_document, {"id": "ticket", "message_id": "message"}, {}),
    Document(
        Task,
        _task_document,
        {"claimed_by": "session"},
        {"is_told": _BOOKKEEPING},
    ),
    Document(Event, event_document, {"message_id": "message"}, {}),
    Document(
        Run,
        run_document,
        {"id": "run"},
        {"folder": "a path of the machine that runs it", "is_told": _BOOKKEEPING},
    ),
    Document(
        Session,
        _session_document,
        {"id": "session"},
        {
            "holder": "a lock or a process of its machine",
            "secret_hash": "nobody else's business",
            **dict.fromkeys(("ended_at", "end_reason"), "only live sessions are shown"),
        },
    ),
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_the_json_of_the_cli_shows_every_field(document: Document) -> None:
    record = record_of(document.kind)
    shown = document.make(record)
    keys = {name: document.names.get(name, name) for name in record._fields}
    missing = {name for name, key in keys.items() if shown.get(key) is None or shown[key] in ([], {}, "")}
    assert missing == set(document.omitted)


def test_the_json_of_a_message_is_its_wire_form_with_the_sender_beside_it() -> None:
    message = filled(Message)
    wire, shown = encode_object(message), message_document(message)
    assert {key: shown[key] for key in FIELDS if key != "from"} == {key: wire[key] for key in FIELDS if key != "from"}
    assert wire["from"] == {"agent": shown["from"], "session": shown["from_session"], "grade": shown["grade"]}


def test_the_json_of_a_message_has_every_key_even_if_the_wire_leaves_it_out() -> None:
    assert message_document(a_message()).keys() == message_document(filled(Message)).keys()
