"""`covey say`: messages to one session, and the rounds of a negotiation with that session."""

import signal

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED, REFUSED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import Terminal

CRITIC = "agent:critic:main"
HELPER = "helper"


@pytest.fixture
def talk(covey: Covey) -> Covey:
    """A space in which the critic has a session with a label."""
    assert covey("join", "critic", "--lease", "1h", "--label", HELPER, "--json").code == DONE
    return covey


def begin(talk: Covey, text: str = "Format this code", *more: str) -> Said:
    """Send a message and wait for no answer. The message is in the critic's inbox when this returns."""
    said = talk("say", HELPER, text, "--from", "lead", "--wait", "0s", "--json", *more)
    assert said.code == UNAVAILABLE, said.err
    return said


def answer(talk: Covey, said: Said, text: str) -> None:
    assert talk("reply", said.json["id"], text, "--from", "critic").code == DONE


def late(talk: Covey, said: Said) -> Said:
    """Resume the wait with the command that the output names."""
    return talk(*said.json["resume"][1:])


@pytest.mark.requirement("sessions.rounds")
def test_waits_for_one_session_are_rounds_of_one_thread(talk: Covey) -> None:
    first = begin(talk)
    assert (first.json["status"], first.json["round"], first.json["rounds"]) == ("delivered_no_reply", 1, 5)
    assert (first.json["session"], first.json["text"]) == (CRITIC, None)
    answer(talk, first, "Which style do you prefer?")
    assert late(talk, first) == Said(DONE, "Which style do you prefer?\n", "")
    second = begin(talk, "Use Prettier")
    assert second.json["round"] == 2
    answer(talk, second, "Done")
    texts = [line["text"] for line in talk("thread", first.json["id"], "--json").json]
    assert texts == ["Format this code", "Which style do you prefer?", "Use Prettier", "Done"]
    ended = talk("say", HELPER, "REPLY_SKIP", "--from", "lead")
    assert (ended.code, ended.out, ended.err) == (DONE, "", "The talk is over.\n")
    again = talk("say", HELPER, "REPLY_SKIP", "--from", "lead")
    assert (again.code, again.err) == (DONE, "There is no negotiation to end.\n")
    assert begin(talk, "Something else").json["round"] == 1


@pytest.mark.requirement("sessions.send.late")
def test_a_late_reply_arrives_once(talk: Covey) -> None:
    said = begin(talk)
    answer(talk, said, "Done")
    assert [item["text"] for item in talk("inbox", "lead", "--json").json] == ["Done"]
    assert late(talk, said).out == "Done\n"
    assert talk("inbox", "lead", "--json").json == []


def test_a_message_before_the_answer_is_a_remark_and_starts_no_round(talk: Covey) -> None:
    first = begin(talk)
    remark = begin(talk, "And mind the tabs")
    assert (remark.json["round"], remark.json["ticket"]) == (1, first.json["ticket"])
    answer(talk, first, "Done")
    assert talk("say", HELPER, "One more thing", "--from", "lead", "--wait", "0s", "--json").json["round"] == 2


@pytest.mark.requirement("sessions.rounds")
def test_the_other_side_can_end_a_negotiation_too(talk: Covey) -> None:
    said = begin(talk)
    answer(talk, said, "REPLY_SKIP")
    assert begin(talk, "Another matter").json["round"] == 1


def test_after_the_last_round_a_message_is_refused_and_the_error_says_how_to_raise_the_limit(
    talk: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("COVEY_TOKEN", talk("token", "create", "--operator").out.strip())
        assert talk("storms", "limits", "--rounds", "1").code == DONE
    answer(talk, begin(talk), "Done")
    refused = talk("say", HELPER, "And now?", "--from", "lead", "--wait", "1s")
    assert refused.code == REFUSED
    assert f"the negotiation with {CRITIC} has used its 1 rounds" in refused.err
    assert "covey storms limits --rounds N" in refused.err
    assert talk("say", HELPER, "I take it as it is.", "--from", "lead").code == DONE


def test_saying_something_to_the_asker_answers_its_question(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    lead, critic = (
        covey("join", name, "--lease", "1h", "--json").json["environment"]["COVEY_SESSION"]
        for name in ("lead", "critic")
    )
    monkeypatch.setenv("COVEY_SESSION", lead)
    asked = covey("say", CRITIC, "Format this code", "--wait", "0s", "--json").json
    monkeypatch.setenv("COVEY_SESSION", critic)
    told = covey("say", "agent:lead:main", "Done", "--json").json
    assert (told["status"], told["round"]) == ("delivered", 1)
    assert covey("owed", "critic", "--json").json == []
    monkeypatch.setenv("COVEY_SESSION", lead)
    assert covey(*asked["resume"][1:]).out == "Done\n"


def test_without_a_wait_the_message_is_delivered_and_no_answer_is_owed(talk: Covey) -> None:
    told = talk("say", CRITIC, "Use tabs", "--from", "lead")
    assert (told.code, "queued" in told.out) == (DONE, True)
    document = talk("say", HELPER, "Use spaces", "--from", "lead", "--json").json
    assert (document["status"], document["ticket"], document["deliveries"][0]["agent"]) == ("delivered", None, "critic")
    assert talk("owed", "critic", "--json").json == []


def test_a_sender_that_is_not_allowed_is_refused(covey: Covey) -> None:
    assert covey("join", "critic", "--lease", "1h", "--allow-from", "lead", "--json").code == DONE
    told = covey("say", CRITIC, "hi", "--from", "stranger")
    assert (told.code, "refused" in told.out) == (REFUSED, True)
    asked = covey("say", CRITIC, "hi?", "--from", "stranger", "--wait", "1s")
    assert (asked.code, "critic will not answer" in asked.err) == (REFUSED, True)
    assert covey("say", CRITIC, "hi", "--from", "stranger", "--wait", "soon").code == USAGE


def test_an_agents_token_speaks_in_rounds_too(talk: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    assert talk("send", "hi", "--from", "lead", "--to", "critic").code == DONE
    monkeypatch.setenv("COVEY_TOKEN", talk("token", "create", "lead").out.strip())
    said = talk("say", HELPER, "Format this code", "--wait", "0s", "--json")
    assert (said.code, said.json["round"]) == (UNAVAILABLE, 1)


# -------------------------------------------------------------------------------------------------- real processes


@pytest.fixture
def house(folder: Folder) -> Folder:
    assert folder.covey("join", "critic", "--lease", "1h", "--label", HELPER, "--json").code == DONE
    return folder


def question(house: Folder) -> str:
    """Wait until the critic owes an answer; return the id of the question."""
    while not (owed := house.covey("owed", "critic", "--json").json):
        pass
    return owed[-1]["message"]


def test_a_reply_and_a_question_back_reach_the_waiting_command(house: Folder) -> None:
    with house.start("say", HELPER, "Format this code", "--from", "lead", "--wait", "20s") as saying:
        asked = question(house)
        waits = house.covey("waits", "--blocked", "--json").json
        assert [(edge["waiter"], edge["awaited"]) for edge in waits] == [("lead", "critic")]
        back = ("--from", "critic", "--to", "lead", "--request", "--reply-to", asked)
        assert house.covey("send", "Which style?", *back).code == DONE
        assert saying.end() == Said(DONE, "Which style?\n", "")
    with house.start("say", HELPER, "Prettier", "--from", "lead", "--wait", "20s") as saying:
        while house.covey("owed", "lead", "--json").json:
            assert saying.process.poll() is None
        assert house.covey("reply", asked, "Done", "--from", "critic").code == DONE
        assert saying.end() == Said(DONE, "Done\n", "")
    assert house.covey("waits", "--json").json == []


def test_ctrl_c_leaves_the_question_open_and_ends_the_wait(house: Folder) -> None:
    with house.start("say", HELPER, "Format this code", "--from", "lead", "--wait", "20s") as saying:
        question(house)
        while not house.covey("waits", "--blocked", "--json").json:
            assert saying.process.poll() is None
        saying.process.send_signal(signal.SIGINT)
        said = saying.end()
    assert (said.code, "covey ask --as lead --ticket" in said.err) == (INTERRUPTED, True)
    assert house.covey("waits", "--blocked", "--json").json == []
    assert len(house.covey("owed", "critic", "--json").json) == 1


def test_a_person_sees_the_state_of_the_delivery_and_the_round(house: Folder) -> None:
    words = ["say", HELPER, "Format this code", "--from", "lead", "--wait", "20s"]
    with Terminal(words, house.path, house.environment) as terminal:
        terminal.until("in the inbox of critic")
        assert house.covey("reply", question(house), "Done", "--from", "critic").code == DONE
        terminal.until("Round 1 of 5")
        terminal.ends_with(DONE)
        terminal.check_fits()
