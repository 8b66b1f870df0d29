"""`covey ask`: a question that is waited for, however long that takes."""

import json
import shlex
import signal
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey

QUESTION = ("ask", "is it done?", "--from", "lead", "--to", "critic", "--register")
NO_TICKET = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b@critic"


def asked(covey: Covey) -> str:
    """Ask without waiting; return the ticket."""
    said = covey(*QUESTION, "--timeout", "0s", "--json")
    assert said.code == UNAVAILABLE
    return said.json["ticket"]


def test_a_wait_that_runs_out_says_how_to_wait_on_and_that_command_gets_the_answer(covey: Covey) -> None:
    said = covey(*QUESTION, "--timeout", "0s")
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert said.err.startswith("No answer from critic yet. The question stays open; wait on with:\n")
    resume = shlex.split(said.err.partition("\n")[2])
    assert resume[0] == "covey"
    assert covey(*resume[1:], "--timeout", "0s").code == UNAVAILABLE
    (owed,) = covey("owed", "critic", "--json").json
    assert covey("reply", owed["message"], "not yet", "--from", "critic").code == DONE
    assert covey(*resume[1:]) == Said(DONE, "not yet\n", "")
    assert covey(*resume[1:]) == Said(DONE, "not yet\n", ""), "an outcome can be asked for again"
    assert covey("inbox", "lead", "--json").json == [], "the answer has been given to who asked"


def test_programs_get_the_outcome_as_one_document(covey: Covey) -> None:
    waiting = covey(*QUESTION, "--timeout", "0s", "--json").json
    assert (waiting["outcome"], waiting["text"], waiting["answer"]) == ("delivered_no_reply", None, None)
    assert waiting["resume"] == ["covey", "ask", "--as", "lead", "--ticket", waiting["ticket"]]
    assert (waiting["debt"]["state"], waiting["debt"]["debtor"]) == ("open", "critic")
    message = waiting["debt"]["message"]
    assert covey("reply", message, "yes", "--from", "critic").code == DONE
    answered = covey("ask", "--from", "lead", "--ticket", waiting["ticket"], "--json")
    assert answered.code == DONE
    document = answered.json
    assert (document["outcome"], document["text"], document["resume"]) == ("replied", "yes", None)
    assert (document["answer"]["from"], document["answer"]["in_reply_to"]) == ("critic", message)


def test_a_question_asked_again_with_the_same_id_is_the_same_question(covey: Covey) -> None:
    again = (*QUESTION, "--id", "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b", "--timeout", "0s", "--json")
    assert covey(*again).json["ticket"] == covey(*again).json["ticket"] == NO_TICKET
    assert len(covey("inbox", "critic", "--json").json) == 1


def test_what_can_never_be_answered_is_refused(covey: Covey) -> None:
    nobody = covey(*QUESTION, "--refuse")
    assert (nobody.code, nobody.out) == (REFUSED, "")
    assert nobody.err.startswith("critic will not answer: undeliverable")
    assert covey("join", "hermit", "--allow-from", "friend", "--export").code == DONE
    refused = covey("ask", "hello?", "--from", "lead", "--to", "hermit", "--json")
    assert (refused.code, refused.json["outcome"], refused.json["resume"]) == (REFUSED, "refused", None)
    ticket = asked(covey)
    assert covey("withdraw", ticket.partition("@")[0], "--agent", "lead").code == DONE
    withdrawn = covey("ask", "--ticket", ticket, "--agent", "lead")
    assert (withdrawn.code, withdrawn.out) == (REFUSED, "")
    assert "critic will not answer" in withdrawn.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["ask", "hm?", "--from", "lead", "--to", "critc"], NOT_FOUND, "did you mean critic?"),
        (["ask", "hm?", "--from", "lead"], USAGE, "agent name"),
        (["ask", "hm?", "--from", "lead", "--to", "critic", "--to", "lead"], USAGE, "an ask goes to one agent"),
        (["ask", "hm?", "--from", "lead", "--to", "*"], USAGE, "an ask goes to one agent"),
        (["ask", "hm?", "--to", "critic"], USAGE, "name the acting agent"),
        (["ask", "hm?", "--from", "lead", "--to", "critic", "--timeout", "soon"], USAGE, "use 90s, 10m"),
        (["ask", "--ticket", "x", "--from", "lead"], USAGE, "MESSAGE@AGENT"),
        (["ask", "--ticket", NO_TICKET, "--from", "lead"], NOT_FOUND, "no ticket"),
        (["ask", "hm?", "--ticket", NO_TICKET, "--from", "lead"], USAGE, "give no AGENT, TEXT"),
        (["ask", "--to", "critic", "--ticket", NO_TICKET, "--from", "lead"], USAGE, "give no AGENT, TEXT"),
    ],
)
def test_a_wrong_question_asks_nothing_and_says_why(covey: Covey, words: list[str], code: int, says: str) -> None:
    asked(covey)
    before = covey("log", "--json").out
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    as_json = covey(*words, "--json")
    assert (as_json.code, list(as_json.json)) == (code, ["error"])
    assert covey("log", "--json").out == before


def test_only_who_asked_can_wait_for_the_answer(covey: Covey) -> None:
    said = covey("ask", "--ticket", asked(covey), "--from", "spy", "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "not-yours")


def test_a_session_that_asked_has_its_answer_and_does_not_find_it_in_its_inbox_too(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in covey("join", "lead", "--json").json["environment"].items():
        monkeypatch.setenv(name, value)
    said = covey("ask", "is it done?", "--to", "critic", "--register", "--timeout", "0s", "--json").json
    assert said["resume"] == ["covey", "ask", "--ticket", said["ticket"]]
    assert covey("reply", said["debt"]["message"], "yes", "--from", "critic").code == DONE
    assert [item["text"] for item in covey("inbox", "--json").json] == ["yes"]
    assert covey("ask", "--ticket", said["ticket"]).out == "yes\n"
    assert covey("inbox", "--json").json == []


def test_an_answer_with_a_file_names_what_came_with_it(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("as it was")
    ticket = asked(covey)
    reply = ("reply", ticket.partition("@")[0], "see the file", "--from", "critic", "--file", "notes.txt")
    assert covey(*reply).code == DONE
    said = covey("ask", "--ticket", ticket, "--from", "lead")
    assert (said.code, said.out) == (DONE, "see the file\n")
    assert "notes.txt, 9 bytes" in said.err


def test_as_a_process_it_waits_until_another_process_answers(folder: Folder) -> None:
    watching = ("watch", "--json", "--after", "0")
    with folder.start(*watching) as watch, folder.start(*QUESTION, "--timeout", "20s") as question:
        while (event := json.loads(watch.line()))["action"] != "message.sent":
            pass
        assert folder.covey("reply", event["message"], "yes", "--from", "critic").code == DONE
        assert question.end() == Said(DONE, "yes\n", "")


def test_killed_while_it_waits_it_leaves_a_question_that_another_process_waits_on_for(folder: Folder) -> None:
    with folder.start("watch", "--json", "--after", "0") as watch, folder.start(*QUESTION) as question:
        while (event := json.loads(watch.line()))["action"] != "message.sent":
            pass
        question.process.kill()
        assert question.end().code == -signal.SIGKILL
    assert folder.covey("reply", event["message"], "late", "--from", "critic").code == DONE
    (waiting,) = folder.covey("inbox", "lead", "--json").json
    assert waiting["text"] == "late"
    assert folder.covey("ask", "--from", "lead", "--ticket", f"{event['message']}@critic").out == "late\n"


def test_two_who_wait_for_one_answer_both_get_it(folder: Folder) -> None:
    said = folder.covey(*QUESTION, "--timeout", "0s", "--json")
    resume = [word for word in said.json["resume"] if word != "covey"]
    with folder.start(*resume) as first, folder.start(*resume) as second:
        assert folder.covey("reply", said.json["debt"]["message"], "yes", "--from", "critic").code == DONE
        assert first.end().out == second.end().out == "yes\n"
