"""JSON on one line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.json import escape, quote
from tests.core.strategies import texts


@given(texts | st.text(st.characters(max_codepoint=0x7F)))
def test_a_text_is_quoted_as_json_requires(text: str) -> None:
    assert quote(text) == escape(text)
    assert json.loads(quote(text)) == text


@pytest.mark.parametrize("letter", [*map(chr, range(0x20)), '"', "\\", "\x7f", "\u2028", "ä", "💬"])
def test_every_character_that_may_need_it_is_escaped(letter: str) -> None:
    for text in (letter, f"before{letter}", f"{letter}after", "x" * 1000 + letter):
        assert quote(text) == escape(text)
        assert json.loads(quote(text)) == text


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        quote("half of a letter: \ud800")
