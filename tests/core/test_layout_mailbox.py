"""Files of mailboxes: Covey's files have the agreed fields and names, and any content of a foreign file is read or
refused."""

import json
import re
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.formats.folder_files import envelope, written
from covey.core.formats.layout import FileCopy, Layout
from covey.core.formats.mailbox import file_name, paper
from covey.core.json import Json
from covey.core.ledger.message import Callback, Kind, Message
from covey.testing import a_message
from tests.core.foreign import MAILBOX_FIELDS, as_file, copies, mailbox, mailbox_files
from tests.core.strategies import message_ids, messages, texts


@given(messages, copies)
def test_our_files_have_the_twelve_fields_and_an_envelope(message: Message, copy: FileCopy) -> None:
    data = json.loads(written(Layout.MAILBOX, message, copy))
    assert data.keys() == {*MAILBOX_FIELDS, "covey"}
    assert (data["id"], data["from"], data["to"]) == (copy.file_id, copy.sender, copy.to)
    assert data["reply_to"] == copy.in_reply_to
    assert data["type"] in ("message", "task", "task_update")
    assert (data["ttl"], data["trace"]) == (message.hops_left, list(message.trace))
    assert datetime.fromisoformat(data["timestamp"]) == message.created_at
    assert data["covey"]["id"] == message.id
    has_task = message.kind in (Kind.TASK, Kind.UPDATE)
    assert (data["task"] is not None) == has_task
    assert not has_task or data["task"].keys() == {"id", "state", "deadline"}
    assert not has_task or copy.task_id is None or data["task"]["id"] == copy.task_id
    assert len(data["content"]["parts"]) == len(message.parts)


@given(messages, copies)
def test_a_message_is_restored_from_its_file(message: Message, copy: FileCopy) -> None:
    assert envelope(written(Layout.MAILBOX, message, copy)) == message


def test_a_missing_callback_is_written_as_an_empty_object() -> None:
    assert json.loads(written(Layout.MAILBOX, a_message(), FileCopy("1", "a", "b")))["callback"] == {}


def test_the_fields_of_a_mailbox_task_are_read() -> None:
    read = paper(as_file(mailbox()), "coder")
    assert (read.id, read.sender, read.to) == ("msg_1745659200_researcher", "researcher", "coder")
    assert (read.kind, read.text, read.data) == (Kind.TASK, "sort by time", ({"n": 1},))
    assert (read.task_id, read.task_state) == ("original_task_id", "pending")
    assert read.created_at == datetime(2026, 4, 26, 10, tzinfo=UTC)
    assert read.deadline == datetime(2026, 4, 26, 11, tzinfo=UTC)
    assert (read.ttl, read.trace) == (2, ("researcher",))
    assert read.callback == Callback("feishu", "feishu:user_123")
    assert read.metadata == {}


def test_each_mailbox_type_maps_to_a_kind() -> None:
    def kind(**changes: Json) -> Kind:
        return paper(as_file(mailbox(**changes)), "coder").kind

    assert kind(type="message") is Kind.NOTIFY
    assert kind(type="message", reply_to="msg_1") is Kind.RESPONSE
    assert kind(type="task_update", reply_to="msg_1") is Kind.UPDATE
    assert kind(type="task") is Kind.TASK
    assert kind(type="shout") is Kind.NOTIFY
    assert kind(type=None) is Kind.NOTIFY


@given(mailbox_files, st.sampled_from(["coder", "", "x"]))
def test_any_content_of_a_file_is_read_or_invalid(content: bytes, owner: str) -> None:
    with suppress(Invalid):
        read = paper(content, owner)
        assert read.sender
        assert read.to
        assert not owner or read.to == owner
        assert read.kind is not Kind.RESPONSE or read.in_reply_to
        assert not read.expects_reply
    envelope(content)


WRONG: list[tuple[str, list[Json]]] = [
    ("from", [None, "", 5, [], {}]),
    ("content", [None, 5, {}, {"parts": 5}, {"parts": {}}, {"parts": [[]] * 257}]),
    ("id", [True, 1.5, [], {}]),
    ("reply_to", [True, [], {}]),
    ("task", [{"id": []}, {"id": "x" * 1001}]),
    ("trace", [["a"] * 65]),
]


@pytest.mark.parametrize(("field", "values"), WRONG)
def test_a_field_of_a_wrong_type_is_invalid(field: str, values: list[Json]) -> None:
    for value in values:
        with pytest.raises(Invalid):
            paper(as_file(mailbox(**{field: value})), "coder")


def test_deeply_nested_data_is_invalid() -> None:
    nested = '{"parts": [{"type": "data", "data": ' + "[" * 80 + "]" * 80 + "}]}"
    with pytest.raises(Invalid, match="nested"):
        paper(as_file(mailbox(content=0)).replace(b'"content": 0', f'"content": {nested}'.encode()), "coder")


@pytest.mark.parametrize(
    ("content", "text", "data", "files"),
    [
        ("plain", "plain", (), ()),
        ({"parts": "plain"}, "plain", (), ()),
        ({"parts": ["a", {"text": "b"}]}, "a\n\nb", (), ()),
        ({"parts": [{"type": "file", "path": "/etc/passwd"}]}, "", (), ("/etc/passwd",)),
        ({"parts": [{"type": "data", "data": None}]}, "", (None,), ()),
        ({"parts": [{"type": "sound", "pitch": 5}, 7]}, "", ({"type": "sound", "pitch": 5}, 7), ()),
        ({"parts": []}, "", (), ()),
    ],
)
def test_content_is_read_in_every_form_that_makes_sense(
    content: Json, text: str, data: tuple[Json, ...], files: tuple[str, ...]
) -> None:
    read = paper(as_file(mailbox(content=content)), "coder")
    assert (read.text, read.data, read.files) == (text, data, files)


def test_an_update_needs_no_words() -> None:
    read = paper(as_file(mailbox(type="task_update", content=None, task={"id": 5, "state": "completed"})), "coder")
    assert (read.task_id, read.task_state, read.text) == ("5", "completed", "")


def test_unknown_values_are_kept_as_metadata_without_effect() -> None:
    odd = mailbox(type="shout", to="somebody-else", metadata={"decision": "approve"}, ttl="3", trace="x", callback=5)
    read = paper(as_file(odd), "coder")
    assert read.metadata == {"type": "shout", "to": "somebody-else", "metadata": {"decision": "approve"}}
    assert (read.ttl, read.trace, read.callback, read.task_id) == (None, (), None, None)


@given(st.lists(st.tuples(message_ids, texts), max_size=5))
def test_file_names_sort_by_the_millisecond_and_are_safe_in_a_path(made: list[tuple[str, str]]) -> None:
    names = sorted(file_name(own, sender) for own, sender in made)
    assert [name[:13] for name in names] == sorted(own[:13] for own, _ in made)
    for name in names:
        assert re.fullmatch(r"[0-9]{19}_[A-Za-z0-9_-]{0,64}_[0-9a-f]{8}\.msg\.json", name)


def test_a_file_name_has_the_time_the_number_the_sender_and_a_unique_part() -> None:
    own = "1745659200123-9b3e0000-0000-4000-8000-000000000001"
    assert file_name(own, "coder", 123_456, 1_042) == "1745659200123456042_coder_9b3e0000.msg.json"
    with pytest.raises(Invalid):
        file_name("msg_1", "coder")
