"""Ids and names in shared folders: deterministic, distinct, and safe as paths."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.formats.layout import (
    EPOCH,
    ForeignMessage,
    Layout,
    agent_of,
    alias_of,
    derived_id,
    file_id,
    is_folder_name,
    millis_of,
    recipient_of,
)
from covey.core.ledger.message import Kind
from covey.core.names import AgentName, MessageId, is_reserved, parse_agent_name, parse_message_id
from tests.core.strategies import agent_names, message_ids

any_text = st.text(st.characters(), max_size=30)


@given(message_ids, agent_names, agent_names)
def test_a_copy_has_the_id_of_its_message_or_its_own_with_the_same_timestamp(
    message_id: MessageId, alice: AgentName, bob: AgentName
) -> None:
    assert file_id(message_id, alice, is_only=True) == message_id
    own = parse_message_id(file_id(message_id, alice, is_only=False))
    assert own[:13] == message_id[:13]
    assert own == file_id(message_id, alice, is_only=False) != message_id
    assert (own == file_id(message_id, bob, is_only=False)) == (alice == bob)


@given(st.sampled_from(Layout), any_text, any_text, any_text, st.integers())
def test_a_foreign_file_gets_a_valid_message_id(
    layout: Layout, owner: str, foreign: str, digest: str, millis: int
) -> None:
    made = derived_id(layout, owner, foreign, digest, millis)
    assert parse_message_id(made) == derived_id(layout, owner, foreign, digest, millis)


def test_every_part_of_a_foreign_file_affects_its_id() -> None:
    made = {
        derived_id(layout, *words, millis=5)
        for layout in Layout
        for words in [("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""), ("", "ab", "c"), ("a", "b", "d")]
    }
    assert len(made) == 10


@pytest.mark.parametrize(
    ("own_id", "at", "name", "millis"),
    [
        ("1730000000123-9b3e", None, "x.json", 1730000000123),
        ("1730000000123-9b3e", 5.0, "1745659200_coder.msg.json", 1730000000123),
        ("msg_1745659200_coder", 5.0, "1745659200_coder.msg.json", 5000),
        ("msg_1745659200_coder", None, "1745659200_coder.msg.json", 1745659200000),
        ("x", None, "1730000000123-9b3e.json", 1730000000123),
        ("17300000001234-9b3e", None, "17456592001_coder.msg.json", 0),
        ("", -5.0, "x.json", 0),
        ("", None, "", 0),
    ],
)
def test_the_time_of_a_foreign_message_is_taken_from_its_id_its_timestamp_or_its_file_name(
    own_id: str, at: float | None, name: str, millis: int
) -> None:
    made_at = None if at is None else EPOCH + timedelta(seconds=at)
    assert millis_of(ForeignMessage(own_id, "alice", Kind.NOTIFY, "", made_at), name) == millis


@given(any_text)
def test_every_foreign_name_stands_for_an_agent(name: str) -> None:
    agent = parse_agent_name(agent_of(name))
    assert agent in (name, alias_of(name))
    assert not is_reserved(agent)


@given(agent_names)
def test_a_valid_agent_name_stays_as_it_is(name: AgentName) -> None:
    assert agent_of(name) == recipient_of(name) == name or is_reserved(name)


def test_mail_can_go_to_the_operator_but_no_file_can_come_from_the_operator() -> None:
    assert recipient_of("operator") == "operator"
    assert agent_of("operator") == alias_of("operator")
    assert recipient_of("covey") == agent_of("covey") == alias_of("covey")


@given(agent_names)
def test_every_agent_can_have_a_folder(name: AgentName) -> None:
    assert is_folder_name(name)


@pytest.mark.parametrize("name", ["Ärger", "研究員", "с пробелом", "a.b", "नमस्ते", "x" * 255])
def test_names_in_every_alphabet_can_be_folders(name: str, tmp_path: Path) -> None:
    assert is_folder_name(name)
    (tmp_path / name).mkdir()
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".covey",
        "a/b",
        "../x",
        "/",
        "a\\b",
        "a\0b",
        "a\nb",
        "\x7f",
        "é" * 128,
        "\udc80",
        "_registry.json",
    ],
)
def test_an_unsafe_path_is_no_folder_name(name: str) -> None:
    assert not is_folder_name(name)
