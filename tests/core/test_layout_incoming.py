"""Messages from the files of foreign programs: every file that can be read can be accepted."""

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import HopsExhausted, Invalid
from covey.core.formats.folder_files import incoming, paper
from covey.core.formats.layout import Layout, agent_of, alias_of
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Callback, DataPart, Kind, Message, TaskRef, TextPart
from covey.core.ledger.wire import decode, encode
from covey.core.names import AgentName, MessageId
from covey.testing import START, a_message, a_message_id
from tests.core.foreign import as_file, dialogue, dialogue_files, mailbox, mailbox_files

CODER = AgentName("coder")
RESEARCHER = Identity(AgentName("researcher"))


def taken(layout: Layout, data: Json, answered: Message | None = None, task: MessageId | None = None) -> Message:
    return incoming(paper(layout, as_file(data), "coder"), a_message_id(7), RESEARCHER, CODER, START, answered, task)


@given(
    st.tuples(st.just(Layout.DIALOGUE), dialogue_files) | st.tuples(st.just(Layout.MAILBOX), mailbox_files),
    st.none() | st.builds(a_message),
)
def test_every_file_that_can_be_read_can_be_accepted(file: tuple[Layout, bytes], answered: Message | None) -> None:
    with suppress(Invalid, HopsExhausted):
        read = paper(*file, "coder")
        sender = Identity(agent_of(read.sender))
        try:
            message = incoming(read, a_message_id(1), sender, CODER, START, answered)
        except Invalid as error:
            raise AssertionError("read, and not accepted") from error
        assert decode(encode(message)) == message
        assert message.trace[-1:] == (sender.agent,) or answered is not None
        assert message.marks == Marks(foreign_id=read.id, foreign_task=read.task_id)
        assert 0 <= message.hops_left <= 2
        assert message.created_at <= START


def test_a_request_of_a_loop_becomes_a_message() -> None:
    message = taken(Layout.DIALOGUE, dialogue(to="coder"))
    assert (message.kind, message.expects_reply, message.round) == (Kind.REQUEST, True, 2)
    assert (message.scope, message.subject) == ("M005-S007-T0002", "filament-resource-policy-missing")
    assert message.text == "did you intend to delete it?"
    assert message.metadata == {}
    assert message.marks == Marks(foreign_id="1730000000123-9b3e0000-0000-4000-8000-000000000001")


def test_an_answer_to_a_known_message_joins_its_thread_and_one_to_an_unknown_message_becomes_a_notify() -> None:
    asked = a_message()
    answer = dialogue(to="coder", kind="response", expects_reply=False, in_reply_to="theirs")
    known = taken(Layout.DIALOGUE, answer, asked)
    assert (known.kind, known.in_reply_to, known.thread) == (Kind.RESPONSE, asked.id, asked.thread)
    told = taken(Layout.DIALOGUE, answer)
    assert (told.kind, told.in_reply_to) == (Kind.NOTIFY, None)
    assert told.metadata["foreign"] == {"in_reply_to": "theirs"}


def test_a_task_keeps_its_path_its_hops_and_its_conversation() -> None:
    message = taken(Layout.MAILBOX, mailbox(trace=["writer", "研究員", "researcher"], ttl=1))
    assert (message.kind, message.hops_left) == (Kind.TASK, 1)
    assert message.trace == ("writer", alias_of("研究員"), "researcher")
    assert message.callback == Callback("feishu", "feishu:user_123")
    assert message.deadline is not None
    assert message.metadata["foreign"] == {"task_id": "original_task_id", "task_state": "pending"}


@pytest.mark.parametrize(("ttl", "hops"), [(0, 0), (2, 2), (3, 2), (1000, 2), (None, 2), (-1, 2)])
def test_hops_are_limited_to_those_of_a_first_send(ttl: Json, hops: int) -> None:
    assert taken(Layout.MAILBOX, mailbox(ttl=ttl)).hops_left == hops


def test_an_update_refers_to_the_known_task() -> None:
    told = mailbox(type="task_update", task={"id": "t", "state": "completed"}, content=None)
    known = taken(Layout.MAILBOX, told, task=a_message_id(3))
    assert known.task == TaskRef(a_message_id(3), "completed")
    assert known.parts == (TextPart("completed"),)
    assert taken(Layout.MAILBOX, told).task is None


def test_the_path_of_a_file_is_passed_on_as_data_and_not_opened() -> None:
    message = taken(Layout.MAILBOX, mailbox(content={"parts": [{"type": "file", "path": "/etc/passwd"}]}))
    assert message.parts == (DataPart({"type": "file", "path": "/etc/passwd"}),)


def test_a_file_with_a_timestamp_gives_the_same_message_at_any_time_of_intake() -> None:
    read = paper(Layout.DIALOGUE, as_file(dialogue(created_at="2025-04-01T00:00:00Z")), "coder")
    one, two = (incoming(read, a_message_id(7), RESEARCHER, CODER, START + timedelta(days=n)) for n in (0, 1))
    assert encode(one) == encode(two)


def test_a_timestamp_in_the_future_becomes_now() -> None:
    assert taken(Layout.DIALOGUE, dialogue(created_at="2099-01-01T00:00:00Z")).created_at == START


def test_foreign_metadata_has_no_effect() -> None:
    message = taken(Layout.MAILBOX, mailbox(type="message", metadata={"decision": "approve"}))
    assert set(message.metadata) == {"foreign"}
