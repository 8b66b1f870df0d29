"""covey reply, handle, dismiss, withdraw and archive: what becomes of what waits."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import covey as api
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey


def sent(covey: Covey, text: str, *words: str) -> str:
    """Let the critic write to the coder; return the message's id."""
    said = covey("send", text, "--from", "critic", "--to", "coder", "--register", "--json", *words)
    assert said.code == DONE
    return said.json["id"]


def inbox(covey: Covey, agent: str = "coder") -> dict[int, str]:
    return {item["number"]: item["text"] for item in covey("inbox", agent, "--json").json}


def copies(covey: Covey, message_id: str) -> Sequence[Any]:
    return [(d["agent"], d["state"], d["reason"]) for d in covey("receipt", message_id, "--json").json["deliveries"]]


@pytest.mark.parametrize(("verb", "reason"), [("handle", "handled"), ("dismiss", "dismissed")])
def test_what_is_settled_leaves_the_inbox_with_its_reason(covey: Covey, verb: str, reason: str) -> None:
    first, second, third = (sent(covey, text) for text in ("one", "two", "three"))
    settled = covey(verb, "1", third, "--agent", "coder", "--json").json
    assert [(item["id"], item["owed"]) for item in settled] == [(first, False), (third, False)]
    assert inbox(covey) == {2: "two"}
    assert copies(covey, first) == [("coder", "handled", reason)]
    said = covey(verb, second, "--agent", "coder", "--why", "it is old")
    assert (said.code, said.out, said.err) == (DONE, f"{second} is handled, it is old.\n", "")
    assert covey("inbox", "coder").out == "Nothing waits for coder.\n"


@pytest.mark.parametrize("verb", ["handle", "dismiss"])
def test_a_request_that_is_only_settled_is_still_owed_and_that_is_said(covey: Covey, verb: str) -> None:
    asked = sent(covey, "why?", "--request")
    said = covey(verb, "1", "--agent", "coder")
    assert said.code == DONE
    assert said.err == f"coder still owes critic an answer: covey reply {asked}\n"
    assert [debt["state"] for debt in covey("owed", "coder", "--json").json] == ["open"]
    assert covey(verb, asked, "--agent", "coder", "--json").json[0]["owed"], "settling twice does nothing"


@pytest.mark.parametrize("verb", ["handle", "dismiss", "archive"])
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["7", "--agent", "coder"], NOT_FOUND, "coder has no message with the number 7"),
        (["0", "--agent", "coder"], NOT_FOUND, "no message with the number 0"),
        (["1", "--agent", "codr"], NOT_FOUND, "did you mean coder?"),
        (["1"], USAGE, "agent is missing"),
        (["one", "--agent", "coder"], USAGE, "MILLISECONDS-UUID"),
        ([], USAGE, "the following arguments are required: ID"),
        (["1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b", "--agent", "coder"], NOT_FOUND, "no message"),
    ],
)
def test_what_is_not_there_settles_nothing(covey: Covey, verb: str, words: Sequence[str], code: int, says: str) -> None:
    sent(covey, "one")
    said = covey(verb, *words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert covey(verb, *words, "--json").json["error"]["code"]
    assert inbox(covey) == {1: "one"}


def test_a_number_that_is_wrong_settles_none_of_those_that_are_right(covey: Covey) -> None:
    sent(covey, "one")
    assert covey("handle", "1", "2", "--agent", "coder").code == NOT_FOUND
    assert inbox(covey) == {1: "one"}


def test_only_the_recipient_settles(covey: Covey) -> None:
    message = sent(covey, "one")
    said = covey("handle", message, "--agent", "critic", "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "not-yours")


def test_a_number_names_a_request_also_after_it_was_answered_and_archived(covey: Covey) -> None:
    asked = sent(covey, "why?", "--request", "--scope", "T-1")
    assert covey("reply", "1", "because", "--from", "coder").code == DONE
    assert inbox(covey) == {}
    assert covey("archive", "01", "--agent", "coder", "--json").json == {"id": asked, "archived": True}
    for name in ("1", asked):
        again = covey("archive", name, "--agent", "coder", "--json")
        assert (again.code, again.json["error"]["code"]) == (REFUSED, "messages-already-archived")


def test_a_reply_can_close_the_debt_and_carry_a_file(covey: Covey, tmp_path: Path) -> None:
    sent(covey, "the report?", "--request", "--scope", "T-1")
    (tmp_path / "report.txt").write_text("12 passed\n")
    assert covey("reply", "1", "here", "--from", "coder", "--close", "--file", "report.txt").code == DONE
    assert covey("gate", "T-1").code == DONE
    (answer,) = covey("inbox", "critic", "--json").json
    assert (answer["text"], answer["scope"], answer["kind"]) == ("here", "T-1", "response")
    assert [part["name"] for part in answer["parts"][1:]] == ["report.txt"]
    assert "[file report.txt, 10 bytes" in covey("inbox", "critic").out


def test_what_nobody_was_shown_can_be_withdrawn_by_its_sender(covey: Covey) -> None:
    asked = sent(covey, "why?", "--request", "--scope", "T-1")
    refused = covey("withdraw", asked, "--from", "coder", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (REFUSED, "not-yours")
    said = covey("withdraw", asked, "--from", "critic")
    assert said.code == DONE
    assert "withdrawn" in said.out
    assert inbox(covey) == {}
    assert covey("gate", "T-1").code == DONE, "the debt is withdrawn with its request"
    again = covey("withdraw", asked, "--agent", "critic", "--json")
    assert (again.code, again.json["error"]["code"]) == (REFUSED, "illegal-move")


def test_what_was_shown_cannot_be_withdrawn(covey: Covey, tmp_path: Path) -> None:
    message = sent(covey, "look")

    async def show() -> None:
        async with api.open(f"sqlite:{tmp_path}/.covey/covey.db") as space:
            member = await space.join("coder")
            showing = await member.offer("turn 1")
            assert showing is not None
            await member.confirm(showing.offer.id, "witnessed", "the transcript")

    asyncio.run(show())
    assert covey("withdraw", message, "--from", "critic").code == REFUSED


def test_a_message_is_withdrawn_by_its_number_in_the_inbox_of_its_recipient(covey: Covey) -> None:
    message = sent(covey, "never mind")
    assert covey("withdraw", "coder:1", "--as", "critic", "--json").json["id"] == message
    assert covey("inbox", "coder", "--json").json == []
    said = covey("withdraw", "x", "--as", "critic")
    assert (said.code, "message id" in said.err) == (USAGE, True)


def test_as_real_processes(folder: Folder) -> None:
    ids = [sent(folder.covey, text, "--request") for text in ("one", "two", "three", "four")]
    assert folder.covey("reply", "1", "yes", "--from", "coder").code == DONE
    assert folder.covey("archive", "1", COVEY_AGENT="coder").code == DONE
    assert folder.covey("handle", "2", "--agent", "coder", "--json").json[0]["id"] == ids[1]
    assert folder.covey("dismiss", "3", "--agent", "coder").err.startswith("coder still owes critic")
    assert folder.covey("withdraw", ids[3], "--from", "critic").code == DONE
    assert folder.covey("inbox", "coder", "--json").json == []
    assert [debt["message"] for debt in folder.covey("owed", "coder", "--json").json] == ids[1:3]
    for verb in ("reply", "archive", "handle", "dismiss"):
        said = folder.covey(verb, "9", *(["no"] if verb == "reply" else []), "--agent", "coder")
        assert (said.code, said.out) == (NOT_FOUND, ""), verb
