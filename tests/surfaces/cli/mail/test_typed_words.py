"""The words that a person types: the recipient, the text, the acting agent, and numbers instead of ids."""

import io
import sys
from collections.abc import Sequence

import pytest

from covey.surfaces.cli.exits import DONE, REFUSED
from tests.surfaces.conftest import Covey


def received(covey: Covey, agent: str) -> Sequence[str]:
    return [item["text"] for item in covey("inbox", agent, "--json").json]


def test_the_recipient_and_the_words_are_typed_in_this_order(covey: Covey) -> None:
    assert covey("send", "coder", "The", "tests", "fail.", "--as", "lead", "--register").code == DONE
    assert covey("send", "--as", "lead", "coder,critic", "One for both.", "--register").code == DONE
    assert received(covey, "coder") == ["The tests fail.", "One for both."]
    assert received(covey, "critic") == ["One for both."]


def test_the_older_options_are_accepted_and_hidden(covey: Covey) -> None:
    assert covey("send", "older", "words", "--from", "lead", "--to", "coder", "--register").code == DONE
    assert covey("send", "new", "--to", "coder", "--agent", "lead").code == DONE
    assert received(covey, "coder") == ["older words", "new"]
    page = covey("help", "send").out
    assert "--as AGENT" in page
    assert [flag for flag in ("--from", "--agent", "--to ") if flag in page] == []


def test_everyone_is_every_live_session(covey: Covey) -> None:
    assert covey("join", "coder", "--lease", "10m").code == DONE
    assert covey("send", "everyone", "Stop.", "--as", "lead").code == DONE
    assert covey("send", "*", "Go on.", "--as", "lead").code == DONE
    assert received(covey, "coder") == ["Stop.", "Go on."]


@pytest.mark.parametrize("words", [("coder", "-"), ("coder",)])
def test_a_dash_or_no_text_reads_stdin(covey: Covey, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe")))
    assert covey("send", *words, "--as", "lead", "--register").code == DONE
    assert received(covey, "coder") == ["from a pipe"]


def test_a_reply_closes_its_question_unless_it_is_kept_open(covey: Covey) -> None:
    for scope in ("T-1", "T-2"):
        assert covey("send", "coder", "Why?", "--as", "lead", "--request", "--scope", scope, "--register").code == DONE
    assert covey("reply", "1", "because", "it", "is", "so", "--as", "coder").code == DONE
    assert covey("gate", "T-1").code == DONE
    assert covey("archive", "1", "--as", "coder").code == DONE
    assert covey("reply", "2", "later", "--as", "coder", "--keep-open").code == DONE
    assert covey("gate", "T-2").code == REFUSED
    assert covey("archive", "2", "--as", "coder").code == DONE
    assert covey("gate", "T-2").code == DONE
    assert received(covey, "lead") == ["because it is so", "later"]


def test_a_number_names_the_message_that_is_referred_to(covey: Covey) -> None:
    first = covey("send", "coder", "One.", "--as", "lead", "--register", "--json").json["id"]
    assert covey("send", "coder", "Two.", "--as", "lead", "--reply-to", "coder:1").code == DONE
    assert [item["in_reply_to"] for item in covey("inbox", "coder", "--json").json] == [None, first]
    assert (
        covey("receipt", "coder:1", "--json").json["id"] == covey("receipt", "1", "--as", "coder", "--json").json["id"]
    )
