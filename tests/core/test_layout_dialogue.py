"""Files of agent loops: Covey's files have the agreed fields, and any content of a foreign file is read or refused."""

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.formats.dialogue import file_name, manifest_line, paper, position_of, swept_line
from covey.core.formats.folder_files import envelope, written
from covey.core.formats.layout import FileCopy, Layout
from covey.core.json import Json
from covey.core.ledger.message import DataPart, Kind, Message, TextPart
from covey.core.limits import MAX_PAPER_BYTES
from covey.core.names import Scope
from covey.testing import START, a_message
from tests.core.foreign import DIALOGUE_FIELDS, as_file, copies, dialogue, dialogue_files
from tests.core.strategies import json_values, message_ids, messages


@given(messages, copies)
def test_our_files_have_the_eleven_fields_and_an_envelope(message: Message, copy: FileCopy) -> None:
    data = json.loads(written(Layout.DIALOGUE, message, copy))
    assert data.keys() == {*DIALOGUE_FIELDS, "covey"}
    assert (data["id"], data["from"], data["to"]) == (copy.file_id, copy.sender, copy.to)
    assert data["in_reply_to"] == copy.in_reply_to
    assert data["kind"] in ("request", "response", "notify")
    assert (data["phase"], data["round"]) == (message.scope or "no-task", message.round)
    assert data["subject"] == (message.subject or message.kind)
    assert data["expects_reply"] is message.expects_reply
    assert datetime.fromisoformat(data["created_at"]) == message.created_at
    assert data["covey"]["id"] == message.id


@given(messages, copies)
def test_a_message_is_restored_from_its_file(message: Message, copy: FileCopy) -> None:
    assert envelope(written(Layout.DIALOGUE, message, copy)) == message


def test_the_body_of_a_file_contains_every_part_of_the_message() -> None:
    message = a_message(text="look")._replace(parts=(TextPart("look"), DataPart({"n": 1}), TextPart("here")))
    assert json.loads(written(Layout.DIALOGUE, message, FileCopy("1", "a", "b")))["body"] == 'look\n\n{"n":1}\n\nhere'


@pytest.mark.parametrize(
    ("kind", "word"), [(Kind.TASK, "request"), (Kind.UPDATE, "notify"), (Kind.RESPONSE, "response")]
)
def test_a_kind_that_loops_do_not_know_becomes_the_nearest_one_they_know(kind: Kind, word: str) -> None:
    message = a_message()._replace(kind=kind)
    assert json.loads(written(Layout.DIALOGUE, message, FileCopy("1", "a", "b")))["kind"] == word


def test_a_file_has_one_field_per_line() -> None:
    lines = written(Layout.DIALOGUE, a_message(text="hi\nthere"), FileCopy("1", "a", "b")).decode().splitlines()
    assert len(lines) == len(DIALOGUE_FIELDS) + 3
    assert '  "body": "hi\\nthere",' in lines


def test_the_fields_of_a_loops_request_are_read() -> None:
    read = paper(as_file(dialogue(in_reply_to="1729999999999-x")), "np-executor")
    assert read.id == "1730000000123-9b3e0000-0000-4000-8000-000000000001"
    assert (read.sender, read.to, read.kind, read.round) == ("np-critic", "np-executor", Kind.REQUEST, 2)
    assert (read.scope, read.subject) == ("M005-S007-T0002", "filament-resource-policy-missing")
    assert (read.text, read.expects_reply) == ("did you intend to delete it?", True)
    assert read.in_reply_to == "1729999999999-x"
    assert read.created_at == datetime(2026, 5, 8, 10, tzinfo=UTC)
    assert read.metadata == {}


@given(dialogue_files, st.sampled_from(["np-executor", "", "x"]))
def test_any_content_of_a_file_is_read_or_invalid(content: bytes, owner: str) -> None:
    with suppress(Invalid):
        read = paper(content, owner)
        assert read.sender
        assert read.to
        assert not owner or read.to == owner
        assert read.kind is not Kind.RESPONSE or read.in_reply_to
        assert read.kind is Kind.REQUEST or not read.expects_reply
    envelope(content)


WRONG: list[tuple[str, list[Json]]] = [
    ("from", [None, "", 5, [], {}, "x" * 1001]),
    ("body", [None, 5, [], {}]),
    ("id", [True, 1.5, [], {}, "x" * 1001]),
    ("in_reply_to", [True, [], {}]),
]


@pytest.mark.parametrize(("field", "values"), WRONG)
def test_a_field_of_a_wrong_type_is_invalid(field: str, values: list[Json]) -> None:
    for value in values:
        with pytest.raises(Invalid, match=field):
            paper(as_file(dialogue(**{field: value})), "np-executor")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"null", b'{"a":NaN}', b"\xff\xfe{}", b"[" * 100_000])
def test_a_file_without_a_json_object_is_invalid(content: bytes) -> None:
    with pytest.raises(Invalid):
        paper(content, "np-executor")


def test_a_file_that_is_too_large_is_invalid() -> None:
    with pytest.raises(Invalid, match="bytes"):
        paper(as_file(dialogue(body="x" * MAX_PAPER_BYTES)), "np-executor")


def test_a_byte_order_mark_is_accepted() -> None:
    assert paper(b"\xef\xbb\xbf" + as_file(dialogue()), "np-executor").sender == "np-critic"


def test_unknown_values_are_kept_as_metadata_without_effect() -> None:
    odd = dialogue(
        kind="shout", phase="two\nlines", subject="\u202eback", to="somebody-else", round=-1, created_at="yesterday"
    )
    read = paper(as_file(odd), "np-executor")
    assert (read.kind, read.scope, read.subject, read.round) == (Kind.REQUEST, None, None, None)
    assert read.created_at is None
    assert read.metadata == {"kind": "shout", "phase": "two\nlines", "subject": "\u202eback", "to": "somebody-else"}


@pytest.mark.parametrize("name", ["a/b", "Not Kebab", ".hidden", "Übersicht 7"])
def test_a_phase_and_a_subject_in_a_foreign_form_are_kept(name: str) -> None:
    read = paper(as_file(dialogue(phase=name, subject=name)), "np-executor")
    assert (read.scope, read.subject) == (name, name)


def test_a_response_without_a_request_becomes_a_notify() -> None:
    read = paper(as_file(dialogue(kind="response", expects_reply=True)), "np-executor")
    assert (read.kind, read.expects_reply) == (Kind.NOTIFY, False)


def test_in_a_common_archive_the_file_itself_names_the_recipient() -> None:
    assert paper(as_file(dialogue()), "").to == "np-executor"
    with pytest.raises(Invalid):
        paper(as_file(dialogue(to=None)), "")


@given(st.lists(message_ids, max_size=5))
def test_files_sort_by_time(ids: list[str]) -> None:
    names = sorted(map(file_name, ids))
    assert [name[:13] for name in names] == sorted(own[:13] for own in ids)


@given(messages, copies, st.integers(0, 2**53))
def test_a_line_of_the_manifest_is_one_line_and_has_its_position(
    message: Message, copy: FileCopy, position: int
) -> None:
    for line in (
        manifest_line("sent", message, copy, START, position),
        manifest_line("archived", message, copy, START, position),
        swept_line(Scope("s"), 3, START, position),
    ):
        assert "\n" not in line
        assert position_of(line) == position_of(line.encode()) == position
        assert position_of(line[:-1]) is None


def test_a_line_of_the_manifest_names_the_event_and_the_file() -> None:
    message = a_message(scope="s", subject="style")._replace(kind=Kind.TASK)
    assert json.loads(manifest_line("sent", message, FileCopy("1", "a", "b"), START, 7)) == {
        "event": "sent",
        "id": "1",
        "from": "a",
        "to": "b",
        "phase": "s",
        "task_id": "s",
        "round": message.round,
        "kind": "request",
        "subject": "style",
        "in_reply_to": None,
        "expects_reply": message.expects_reply,
        "created_at": "2026-01-01T00:00:00.000000+00:00",
        "at": "2026-01-01T00:00:00.000000+00:00",
        "position": 7,
    }
    swept = json.loads(swept_line(Scope("s"), 3, START, 8))
    assert (swept["event"], swept["phase"], swept["task_id"], swept["moved"]) == ("task-swept", "s", "s", 3)


@given(st.binary() | json_values.map(as_file))
def test_a_foreign_line_has_no_position_or_a_number(line: bytes) -> None:
    position = position_of(line)
    assert position is None or position >= 0
