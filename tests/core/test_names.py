"""Names, parsed at the edge: a text that could be a path, a wildcard or an injection is refused."""

import re
from collections.abc import Callable
from itertools import islice, product
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.identity import AddressKind, parse_address, parse_session_key
from covey.core.names import (
    AgentName,
    MessageId,
    automatic_name,
    parse_agent_name,
    parse_correlation_id,
    parse_label,
    parse_message_id,
    parse_offer_id,
    parse_scope,
    parse_session_id,
    parse_subject,
    parse_ticket_id,
    ticket_id,
)
from tests.core.strategies import agent_names, message_ids, scopes, session_ids, subjects

Parse = Callable[[object], str]

PARSERS: dict[str, Parse] = {
    "agent name": parse_agent_name,
    "scope": parse_scope,
    "label": parse_label,
    "subject": parse_subject,
    "message id": parse_message_id,
    "session id": parse_session_id,
    "offer id": parse_offer_id,
    "correlation id": parse_correlation_id,
    "ticket id": parse_ticket_id,
    "session key": lambda text: str(parse_session_key(text)),
    "recipient": lambda text: str(parse_address(text)),
}

TRICKS: list[object] = [
    "", " ", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "~", "a b", "a\n", "\na", "a\t", "a\x00", "\x7f", "a\r",
    "ä", "語", "🐦", "а", "ａ", "a\u200b", "\u202ea", "a\u0301", "١", "a,b", "a;b", "a'b", 'a"b', "$(x)", "`x`", "%00",
    "a>b", "<a", "&a", "#a", "a?", "a|b", "{a}", "[a]", "a=b", "a+b", "a!", None, 5, 5.0, True, b"a", [], {}, ["a"],
    ("a",), "x" * 1000, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("what", PARSERS)
@pytest.mark.parametrize("trick", TRICKS, ids=ascii)
def test_a_text_that_could_be_a_path_or_an_injection_is_refused(what: str, trick: object) -> None:
    with pytest.raises(Invalid):
        PARSERS[what](trick)


@pytest.mark.parametrize("what", PARSERS)
@given(text=st.text())
def test_a_parsed_name_has_only_plain_characters(what: str, text: str) -> None:
    try:
        parsed = PARSERS[what](text)
    except Invalid:
        return
    assert re.fullmatch(r"[A-Za-z0-9._@:*-]+", parsed)
    assert ".." not in parsed.split("/")
    assert not parsed.startswith(".")


@given(agent_names)
def test_a_valid_agent_name_is_taken_as_it_is(name: AgentName) -> None:
    assert parse_agent_name(name) == name
    assert parse_address(name) == (AddressKind.AGENT, name)
    with pytest.raises(Invalid):
        parse_agent_name(f"{name}.")
    with pytest.raises(Invalid):
        parse_agent_name(name.ljust(65, "x"))


@given(scopes)
def test_a_valid_scope_or_label_is_taken_as_it_is(scope: str) -> None:
    assert parse_scope(scope) == parse_label(scope) == scope
    with pytest.raises(Invalid):
        parse_scope(f".{scope}"[:128])
    with pytest.raises(Invalid):
        parse_label(scope.ljust(129, "x"))


@given(subjects)
def test_a_valid_subject_is_taken_as_it_is(subject: str) -> None:
    assert parse_subject(subject) == subject
    for wrong in (f"-{subject}", f"{subject}-", subject.ljust(129, "x"), f"{subject}--x", f"{subject}X"):
        with pytest.raises(Invalid):
            parse_subject(wrong)


@given(session_ids)
def test_a_uuid_is_always_a_session_and_never_an_agent(session_id: str) -> None:
    assert parse_session_id(session_id.upper()) == session_id
    assert parse_address(session_id) == (AddressKind.SESSION, session_id)
    with pytest.raises(Invalid):
        parse_agent_name(session_id)


@given(message_ids, agent_names)
def test_ticket_ids_are_parsed_back(message_id: MessageId, name: AgentName) -> None:
    made = ticket_id(message_id, name)
    assert parse_ticket_id(made) == made


@pytest.mark.requirement("dialogue.id")
@given(st.lists(message_ids, max_size=20))
def test_message_ids_have_one_form_and_sort_by_their_time(made: list[MessageId]) -> None:
    assert [parse_message_id(message_id) for message_id in made] == made
    times = [int(message_id.partition("-")[0]) for message_id in sorted(made)]
    assert times == sorted(times)


def test_automatic_names_are_in_the_order_of_the_alphabet_and_then_longer() -> None:
    letters = ("".join(word) for length in (1, 2, 3) for word in product(ascii_uppercase, repeat=length))
    expected = [f"agent{word}" for word in islice(letters, 2000)]
    assert [automatic_name(index) for index in range(2000)] == expected
    assert expected[25:27] == ["agentZ", "agentAA"]


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_automatic_names_differ_and_are_valid(one: int, other: int) -> None:
    assert (automatic_name(one) == automatic_name(other)) == (one == other)
    assert parse_agent_name(automatic_name(one)) == automatic_name(one)
