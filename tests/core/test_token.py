"""Tokens: their form, their ids and their notes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import IdentityRefused, Invalid
from covey.core.identity import (
    MAX_NOTE_CHARS,
    check_token,
    hash_secret,
    parse_note,
    parse_token_id,
    token_from,
    token_id,
)

SECRET = "0123456789abcdef" * 4


def test_a_token_is_recognised_by_how_it_begins() -> None:
    assert token_from(SECRET) == f"covey_{SECRET}"
    assert check_token(token_from(SECRET)) == token_from(SECRET)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "covey_",
        SECRET,
        f"covey_{SECRET}\n",
        f" covey_{SECRET}",
        "covey_é" * 9,
        "covey_" + "x" * 300,
        None,
        7,
        b"c",
    ],
)
def test_a_malformed_token_is_refused_and_not_repeated(text: object) -> None:
    with pytest.raises(IdentityRefused) as caught:
        check_token(text)
    assert caught.value.code == "identity-refused"
    assert SECRET not in str(caught.value)


@given(st.text(min_size=8))
def test_a_refusal_never_contains_the_refused_text(text: str) -> None:
    try:
        check_token(text)
    except IdentityRefused as refused:
        said = f"{refused.message} {dict(refused.details)}"
        assert (
            text not in said or text in "identity refused: that is no token: one begins with covey_ and has no spaces"
        )


def test_the_id_is_the_beginning_of_the_hash_and_reads_back() -> None:
    made = token_id(hash_secret(token_from(SECRET)))
    assert parse_token_id(made) == made
    assert made not in token_from(SECRET)


@pytest.mark.parametrize("text", ["", "3b1f", "3B1F07C2A9DE", "3b1f07c2a9de0", "not-an-id-ok", None, 12])
def test_a_malformed_token_id_is_invalid(text: object) -> None:
    with pytest.raises(Invalid, match="12 digits"):
        parse_token_id(text)


def test_a_token_in_place_of_its_id_is_not_repeated() -> None:
    for text in (token_from(SECRET), f"  {token_from(SECRET)}  "):
        with pytest.raises(Invalid) as caught:
            parse_token_id(text)
        assert SECRET[:8] not in f"{caught.value.message} {dict(caught.value.details)}"


@pytest.mark.parametrize(
    "text", ["", "   ", "a\nb", "a\x1b[31m", "a\x00", "\u202eevil", "x" * (MAX_NOTE_CHARS + 1), "\ud800", None]
)
def test_a_note_is_one_printable_line_of_limited_length(text: object) -> None:
    with pytest.raises(Invalid):
        parse_note(text)


def test_a_note_may_be_in_any_language() -> None:
    assert parse_note(" für die Bauküche 🛠 ") == "für die Bauküche 🛠"
    assert parse_note("x" * MAX_NOTE_CHARS) == "x" * MAX_NOTE_CHARS
