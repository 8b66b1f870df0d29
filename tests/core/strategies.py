"""Arbitrary valid values of the core's types."""

import string
from datetime import UTC

from hypothesis import strategies as st

from covey.core.identity import Grade, Identity, SessionKey, main_key, parse_address
from covey.core.json import Json
from covey.core.ledger.marks import NAMES, Marks, Step
from covey.core.ledger.message import Callback, DataPart, FilePart, Kind, Message, Part, TaskRef, TextPart
from covey.core.ledger.wire import more_of
from covey.core.names import AgentName, MessageId, Scope, SessionId, Subject, is_uuid_like

NAME_LETTERS = string.ascii_letters + string.digits + "_-"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
uuids = st.uuids().map(str)
agent_names = st.text(NAME_LETTERS, min_size=1, max_size=64).filter(lambda t: not is_uuid_like(t)).map(AgentName)
scopes = st.text(NAME_LETTERS + ".", min_size=1, max_size=128).filter(lambda t: t[0] != ".").map(Scope)
subjects = (
    st.lists(st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20), min_size=1, max_size=4)
    .map("-".join)
    .map(Subject)
)
message_ids = st.tuples(st.integers(0, 10**13 - 1), uuids).map(lambda made: MessageId(f"{made[0]:013d}-{made[1]}"))
session_ids = uuids.map(SessionId)
instants = st.datetimes(timezones=st.just(UTC))


def _spawned(key: SessionKey, children: list[SessionId]) -> SessionKey:
    for child in children:
        key = key.child(child)
    return key


main_keys = st.builds(main_key, agent_names, st.none() | session_ids)
session_keys = st.builds(_spawned, main_keys, st.lists(session_ids, max_size=4))

addresses = (st.just("*") | agent_names | session_ids | session_keys.map(str)).map(parse_address)

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)

parts: st.SearchStrategy[Part] = (
    st.builds(TextPart, texts)
    | st.builds(DataPart, json_values)
    | st.builds(FilePart, texts, texts, st.integers(0, 2**50), texts, st.none() | texts)
)

identities = st.builds(Identity, agent_names, st.none() | session_ids, st.sampled_from(Grade))

all_marks = st.builds(
    Marks,
    **{name: st.none() | texts for name in NAMES if name not in ("step", "partner")},
    step=st.none() | st.sampled_from(Step),
    partner=st.none() | agent_names,
).filter(lambda marks: marks != Marks())

messages = st.builds(
    Message,
    id=message_ids,
    kind=st.sampled_from(Kind),
    sender=identities,
    to=st.lists(addresses, max_size=3).map(tuple),
    parts=st.lists(parts, max_size=3).map(tuple),
    created_at=instants,
    thread=message_ids,
    root=message_ids,
    subject=st.none() | subjects,
    scope=st.none() | scopes,
    round=st.none() | st.integers(0, 1000),
    cause=st.none() | message_ids,
    in_reply_to=st.none() | message_ids,
    correlation_id=st.none() | uuids,
    expects_reply=st.booleans(),
    hops_left=st.integers(0, 5),
    trace=st.lists(agent_names, max_size=4).map(tuple),
    task=st.none() | st.builds(TaskRef, texts, st.none() | texts),
    callback=st.none()
    | st.builds(
        Callback,
        texts,
        texts,
        st.dictionaries(texts, json_values, max_size=2).map(more_of),
    ),
    deadline=st.none() | instants,
    expires_at=st.none() | instants,
    traceparent=st.none() | texts,
    metadata=st.dictionaries(texts, json_values, max_size=3),
    depth=st.integers(0, 1000),
    marks=st.none() | all_marks,
)
