"""Records of an export: a valid record is restored unchanged, and an invalid one is refused with a reason."""

from datetime import timedelta
from hashlib import sha256
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.core.channels.post import Binding, Post, PostState
from covey.core.directory.card import Agent, Capacity, Card, Overflow, TaskOverflow
from covey.core.directory.session import Activity, Holder, Session, SessionKind
from covey.core.errors import CoveyError
from covey.core.formats import portable as forms
from covey.core.formats.export import decode_record, encode_record, kind_of
from covey.core.formats.portable import (
    Blob,
    FiledMessage,
    NumberedAgent,
    PrunedMessages,
    Record,
    RecordKind,
    Setting,
)
from covey.core.identity import Token, parse_address
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade, Extent, Offer, Presentation, confirmed
from covey.core.ledger.ticket import Ticket, TicketMove, TicketState, TicketTrouble
from covey.core.names import delivery_id, delivery_message, parked_inbox, session_inbox, ticket_id
from covey.core.work.task import Task, TaskState
from covey.testing.records import a_binding, a_delivery, a_post, a_session, a_task, a_ticket, an_event
from tests.core.strategies import (
    agent_names,
    identities,
    instants,
    json_values,
    message_ids,
    messages,
    scopes,
    session_ids,
    session_keys,
    subjects,
    texts,
)

spans = st.integers(0, 10**14).map(lambda n: timedelta(microseconds=n))
numbers = st.integers(0, 2**50)
delivery_ids = st.builds(delivery_id, message_ids, st.integers(1, 999))
ticket_ids = st.builds(ticket_id, message_ids, agent_names)
inboxes = st.builds(parked_inbox, agent_names) | st.builds(session_inbox, session_ids)
capacities = st.builds(Capacity, st.integers(1, 1000), st.sampled_from(Overflow))
blobs = st.binary(max_size=200).map(lambda content: Blob(_digest(content), content))


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


names = st.lists(agent_names, max_size=3).map(tuple)
cards = st.builds(
    Card,
    description=st.text("abc äß🐦\n", max_size=20),
    capabilities=names,
    allow_from=st.just(("*",)) | names,
    allowed_delegates=st.just(("*",)) | names,
    quota=st.integers(0, 9),
    overflow=st.sampled_from(TaskOverflow),
    workspace=st.none() | st.just("/home/bob"),
    command=names,
    capacity=capacities,
    max_depth=st.integers(0, 9),
    max_children=st.integers(0, 9),
    allow_spawn=st.just(("*",)) | names,
    channel=st.booleans(),
    wire_name=st.none() | st.just("kate.v2"),
)
agents = st.builds(NumberedAgent, st.builds(Agent, agent_names, cards, instants, st.none() | texts), numbers)
sessions = st.builds(
    Session,
    id=session_ids,
    key=session_keys,
    agent=agent_names,
    kind=st.sampled_from(SessionKind),
    holder=st.just(Holder()),
    secret_hash=st.just(""),
    joined_at=instants,
    seen_at=instants,
    lease=spans,
    activity=st.sampled_from(Activity),
    label=st.none() | scopes,
    capacity=capacities,
    ended_at=st.none() | instants,
    end_reason=st.none() | texts,
    hooked_at=st.none() | instants,
)


def _delivery(delivery: DeliveryRecord) -> DeliveryRecord:
    return delivery._replace(message_id=delivery_message(delivery.id))


def _post(post: Post) -> Post:
    return post._replace(message_id=delivery_message(post.id))


extents = st.tuples(numbers, numbers, numbers).map(lambda ends: Extent(*sorted(ends)))
seen = st.tuples(extents, st.sampled_from(EvidenceGrade)).map(lambda shown: confirmed(None, *shown))
deliveries = st.builds(
    DeliveryRecord,
    id=delivery_ids,
    message_id=message_ids,
    inbox=inboxes,
    agent=st.none() | agent_names,
    state=st.sampled_from(DeliveryState),
    kind=st.sampled_from(Kind),
    sender=agent_names,
    expects_reply=st.booleans(),
    updated_at=instants,
    seq=numbers,
    number=numbers,
    scope=st.none() | scopes,
    subject=st.none() | subjects,
    expires_at=st.none() | instants,
    offer=st.none() | session_ids,
    lease_until=st.none() | instants,
    grade=st.none() | st.sampled_from(EvidenceGrade),
    reason=st.none() | texts,
    archived_at=st.none() | instants,
    seen=st.none() | seen,
).map(_delivery)
tickets = st.builds(
    Ticket,
    id=ticket_ids,
    message_id=message_ids,
    thread=message_ids,
    asker=agent_names,
    debtor=agent_names,
    state=st.sampled_from(TicketState),
    opened_at=instants,
    asker_session=st.none() | session_ids,
    scope=st.none() | scopes,
    subject=st.none() | subjects,
    due_at=st.none() | instants,
    answer=st.none() | message_ids,
    trouble=st.none() | st.sampled_from(TicketTrouble),
    awaits=st.none() | ticket_ids,
    closed_at=st.none() | instants,
    close_reason=st.none() | st.sampled_from(TicketMove),
)
tasks = st.builds(
    Task,
    id=message_ids,
    delegator=agent_names,
    agent=agent_names,
    state=st.sampled_from(TaskState),
    created_at=instants,
    updated_at=instants,
    delegator_session=st.none() | session_ids,
    parent=st.none() | message_ids,
    scope=st.none() | scopes,
    deadline=st.none() | instants,
    claimed_by=st.none() | session_ids,
    attempt=numbers,
    abandoned_at=st.none() | instants,
    is_told=st.booleans(),
    reason=st.none() | texts,
    progress=st.none() | message_ids,
    result=st.none() | message_ids,
    finished_at=st.none() | instants,
)
bound = (agent_names | session_ids | session_keys.map(str)).map(parse_address)
bindings = st.builds(Binding, channel=agent_names, conversation=texts, to=bound, bound_at=instants)
posts = st.builds(
    Post,
    id=delivery_ids,
    channel=agent_names,
    conversation=texts,
    message_id=message_ids,
    state=st.sampled_from(PostState),
    created_at=instants,
    since=instants,
    next_at=st.none() | instants,
    attempts=numbers,
    holder=st.none(),
    error=st.none() | texts,
).map(_post)
offers = st.builds(
    Offer,
    id=session_ids,
    session=session_ids,
    turn=texts,
    deliveries=st.lists(delivery_ids, max_size=3).map(tuple),
    offered_at=instants,
    lease_until=instants,
    presentation=st.sampled_from(Presentation),
    ended_at=st.none() | instants,
    end_reason=st.none() | texts,
    lease=spans,
    extents=st.lists(extents, max_size=3).map(tuple),
)
events = st.builds(
    Event,
    action=st.sampled_from(Action),
    actor=identities,
    at=instants,
    message_id=st.none() | message_ids,
    agent=st.none() | agent_names,
    scope=st.none() | scopes,
    details=st.dictionaries(texts, json_values, max_size=3),
    position=numbers,
)
tokens = st.builds(Token, texts, agent_names, instants, st.none() | instants, texts, st.none() | instants)
records: st.SearchStrategy[Record] = (
    agents
    | st.builds(Setting, texts, texts)
    | tokens
    | events
    | sessions
    | offers
    | st.lists(message_ids, max_size=3).map(lambda ids: PrunedMessages(tuple(ids)))
    | blobs
    | st.builds(FiledMessage, messages, st.booleans())
    | tickets
    | deliveries
    | tasks
    | bindings
    | posts
)


@given(record=records)
@settings(max_examples=300)
def test_a_record_survives_encoding(record: Record) -> None:
    assert decode_record(kind_of(record), encode_record(record)) == record


@pytest.mark.parametrize(
    ("form", "made_otherwise"),
    [
        (forms.AGENT, set[str]()),
        (forms.SETTING, set[str]()),
        (forms.TOKEN, set[str]()),
        (forms.EVENT, set[str]()),
        (forms.SESSION, {"holder", "secret_hash"}),
        (forms.OFFER, set[str]()),
        (forms.PRUNED, set[str]()),
        (forms.TICKET, set[str]()),
        (forms.DELIVERY, {"message_id"}),
        (forms.TASK, set[str]()),
        (forms.BINDING, set[str]()),
        (forms.POST, {"message_id", "holder"}),
    ],
)
def test_no_field_of_a_record_is_forgotten(form: forms.RecordForm, made_otherwise: set[str]) -> None:
    assert set(form.fields) | made_otherwise == set(cast(Any, form.make)._fields)


def test_secrets_and_holders_of_a_session_are_not_exported() -> None:
    document = encode_record(a_session())
    assert not {"holder", "secret_hash"} & set(document)
    assert "hash-1" not in str(document)
    assert "lock-1" not in str(document)
    assert "lock-1" not in str(encode_record(a_post(holder="lock-1")))


@pytest.mark.parametrize(
    ("kind", "record", "change"),
    [
        (RecordKind.SESSION, a_session(), {"id": "not-a-uuid"}),
        (RecordKind.SESSION, a_session(), {"key": "/etc/passwd"}),
        (RecordKind.SESSION, a_session(), {"lease": -1}),
        (RecordKind.SESSION, a_session(), {"joined_at": None}),
        (RecordKind.SESSION, a_session(), {"joined_at": "2026-01-01"}),
        (RecordKind.DELIVERY, a_delivery(), {"id": "x.1"}),
        (RecordKind.DELIVERY, a_delivery(), {"id": f"{a_delivery().message_id}.0"}),
        (RecordKind.DELIVERY, a_delivery(), {"id": f"{a_delivery().message_id}.¹"}),
        (RecordKind.DELIVERY, a_delivery(), {"inbox": "folder:bob"}),
        (RecordKind.DELIVERY, a_delivery(), {"inbox": "agent:../bob"}),
        (RecordKind.DELIVERY, a_delivery(), {"state": "lost"}),
        (RecordKind.DELIVERY, a_delivery(), {"seq": True}),
        (RecordKind.DELIVERY, a_delivery(), {"expects_reply": 1}),
        (RecordKind.TICKET, a_ticket(), {"id": "nothing"}),
        (RecordKind.TICKET, a_ticket(), {"debtor": "b b"}),
        (RecordKind.TASK, a_task(), {"id": "nothing"}),
        (RecordKind.TASK, a_task(), {"state": "lost"}),
        (RecordKind.TASK, a_task(), {"attempt": -1}),
        (RecordKind.TASK, a_task(), {"is_told": 0}),
        (RecordKind.BINDING, a_binding(), {"to": "*"}),
        (RecordKind.BINDING, a_binding(), {"conversation": None}),
        (RecordKind.POST, a_post(), {"id": "x.1"}),
        (RecordKind.POST, a_post(), {"state": "lost"}),
        (RecordKind.EVENT, an_event(), {"actor": "bob"}),
        (RecordKind.EVENT, an_event(), {"action": "nothing.happened"}),
        (RecordKind.EVENT, an_event(), {"details": []}),
        (RecordKind.BLOB, Blob(_digest(b"x"), b"x"), {"content": "eA"}),
        (RecordKind.BLOB, Blob(_digest(b"x"), b"x"), {"content": "eQ=="}),
        (RecordKind.PRUNED, PrunedMessages(()), {"ids": "x"}),
        (RecordKind.PRUNED, PrunedMessages(()), {"ids": ["x"]}),
    ],
)
def test_an_invalid_record_is_refused(kind: RecordKind, record: Record, change: dict[str, object]) -> None:
    document = {**encode_record(record)}
    assert decode_record(kind, document) is not None
    with pytest.raises(CoveyError):
        decode_record(kind, {**document, **change})  # pyright: ignore[reportArgumentType]  # wrong on purpose
