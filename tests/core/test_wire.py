"""Messages as JSON: encoding loses nothing, decoding raises only CoveyError, unknown fields are ignored, and wrong
values are refused."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import CoveyError, Invalid, MessageTooLarge
from covey.core.json import Json
from covey.core.ledger.message import DataPart, Message, TextPart
from covey.core.ledger.wire import FIELDS, decode, encode
from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.testing import a_message, a_message_id
from tests.core.strategies import json_values, messages, texts

OURS = {"v", *FIELDS}

WRONG: list[tuple[str, list[Json]]] = [
    ("v", [0, 2, "1", "x", [], {}]),
    ("id", [None, "", 5, "x", "123-abc", a_message_id() + "\n", "../" + a_message_id(), [], {}]),
    ("kind", [None, "", "Request", "ask", 1, [], {}]),
    ("from", [None, {}, "alice", [], {"agent": "alice"}, {"grade": "token"}, {"agent": "a b", "grade": "token"}]),
    ("from", [{"agent": "alice", "grade": "royal"}, {"agent": "alice", "grade": "token", "session": "main"}]),
    ("to", ["bob", 5, {}, [5], [None], [""], ["a/b"], ["../x"], ["agent:"], ["agent:bob:side"], [["bob"]]]),
    ("parts", ["text", {}, 5, ["text"], [5], [{}], [{"type": "sound"}], [{"type": "text"}], [{"type": "data"}]]),
    ("parts", [[{"type": "text", "text": 5}], [{"type": "file", "name": "x"}], [[]]]),
    ("parts", [[{"type": "file", "name": "x", "digest": "y", "size": size}] for size in (-1, 1.5, "1", True, None)]),
    ("created_at", [None, "", "now", 5, "2026-01-01", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", []]),
    ("thread", ["", "x", 5, []]),
    ("root", ["", "x", 5, {}]),
    ("expects_reply", [0, 1, "true", [], {}]),
    ("ttl", [-1, 1.5, "3", True, [], 10**30]),
    ("trace", ["alice", 5, {}, [5], ["a b"], [""]]),
    ("subject", ["", "two\nlines", "\u202eback", "x" * 501, 5, []]),
    ("scope", ["", "two\nlines", "\u202eback", "x" * 501, 5, []]),
    ("round", [-1, 1.5, "1", True, [], 10**30]),
    ("cause", ["", "x", 5, []]),
    ("in_reply_to", ["", "x", 5, []]),
    ("correlation_id", ["", "x", 5, []]),
    ("task", ["t", 5, [], {}, {"id": 5}, {"state": "working"}, {"id": "t", "state": 5}]),
    ("callback", ["c", 5, [], {}, {"channel": "c"}, {"session_id": "s"}, {"channel": 5, "session_id": "s"}]),
    ("deadline", ["", "soon", 5, "2026-01-01T00:00:00", "9999-12-31T23:59:59-14:00"]),
    ("expires_at", ["", "soon", 5, "2026-01-01T00:00:00"]),
    ("depth", [-1, 1.5, "1", True, [], 10**30]),
    ("traceparent", [5, [], {}]),
    ("metadata", ["x", 5, []]),
    ("marks", ["x", 5, [], {"person": 5}, {"run": []}, {"partner": "a b"}]),
]


def document(**changes: Json) -> str:
    """Return a valid document, with some fields changed."""
    return json.dumps({**json.loads(encode(a_message(subject="topic", scope="s"))), **changes})


@given(messages)
def test_a_message_survives_encoding(message: Message) -> None:
    assert decode(encode(message)) == message


@given(messages)
def test_a_message_is_one_line_of_json_with_our_fields_only(message: Message) -> None:
    line = encode(message)
    assert "\n" not in line
    assert json.loads(line).keys() <= OURS


@given(messages)
def test_bytes_and_text_are_read_alike(message: Message) -> None:
    assert decode(encode(message).encode()) == message


@given(messages, st.dictionaries(texts.filter(lambda name: name not in OURS), json_values, min_size=1))
def test_foreign_fields_are_tolerated(message: Message, foreign: dict[str, Json]) -> None:
    ours = json.loads(encode(message))
    assert decode(json.dumps({**foreign, **ours})) == message
    ours["from"] |= {key: value for key, value in foreign.items() if key not in ("agent", "session", "grade")}
    assert decode(json.dumps(ours)) == message


@pytest.mark.parametrize(("field", "values"), WRONG)
def test_a_wrong_value_of_our_own_field_is_refused(field: str, values: list[Json]) -> None:
    assert decode(document())
    for value in values:
        with pytest.raises(Invalid):
            decode(document(**{field: value}))


def test_every_field_has_wrong_values_in_these_tests() -> None:
    assert {field for field, _ in WRONG} == OURS


@pytest.mark.parametrize("field", ["id", "kind", "from", "created_at"])
def test_a_required_field_cannot_be_missing(field: str) -> None:
    data = json.loads(document())
    del data[field]
    with pytest.raises(Invalid):
        decode(json.dumps(data))


@given(st.binary() | st.text() | json_values.map(json.dumps))
def test_arbitrary_input_is_refused_with_a_covey_error(rubbish: str | bytes) -> None:
    with pytest.raises(CoveyError):
        decode(rubbish)


@given(messages, st.sampled_from(sorted(OURS)), json_values)
def test_any_value_of_a_field_is_read_or_refused_with_a_covey_error(message: Message, field: str, value: Json) -> None:
    data = json.loads(encode(message)) | {field: value}
    try:
        decoded = decode(json.dumps(data))
    except CoveyError:
        return
    assert decode(encode(decoded)) == decoded


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(number: str) -> None:
    with pytest.raises(Invalid):
        decode(document(metadata={"n": 0}).replace('{"n": 0}', f'{{"n": {number}}}'))


def test_text_that_is_not_unicode_is_refused_in_both_directions() -> None:
    with pytest.raises(Invalid):
        decode(document(metadata={"text": "\ud800"}))
    with pytest.raises(Invalid):
        encode(a_message(text="\ud800"))


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_nesting_is_refused_or_read(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    with suppress(Invalid):
        decode(document(metadata={"n": 0}).replace('{"n": 0}', f'{{"n": {nested}}}'))


@pytest.mark.parametrize("data", [float("nan"), float("inf"), b"bytes", object(), {1, 2}])
def test_data_that_is_not_json_can_not_be_sent(data: object) -> None:
    with pytest.raises(Invalid):
        encode(a_message()._replace(parts=(DataPart(data),)))  # pyright: ignore[reportArgumentType] — wrong on purpose


@pytest.mark.parametrize("character", ["x", "ä", "語"])
def test_an_envelope_over_the_limit_is_refused_in_both_directions(character: str) -> None:
    room = MAX_ENVELOPE_BYTES - len(encode(a_message(text="")).encode())
    fits = character * (room // len(character.encode()))
    assert decode(encode(a_message(text=fits))).parts == (TextPart(fits),)
    with pytest.raises(MessageTooLarge):
        encode(a_message(text=fits + character))
    with pytest.raises(MessageTooLarge):
        decode(encode(a_message(text=fits)).replace('"v":1', '"v":1,"foreign":"' + character * 9 + '"'))
