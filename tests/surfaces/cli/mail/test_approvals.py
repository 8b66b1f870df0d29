"""`covey ask --approval`, `covey approve` and `covey reject`: a decision that is waited for, with its exit codes."""

import json
import signal

import pytest

from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, REJECTED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey

pytestmark = pytest.mark.requirement("peers.approvals")

REQUEST = ("ask", "v2 to production", "--approval", "deploy", "--from", "ci", "--to", "lead", "--register")
NOBODYS = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"


def asked(covey: Covey) -> str:
    """Ask without waiting; return the ticket."""
    said = covey(*REQUEST, "--timeout", "0s", "--json")
    assert (said.code, said.json["approval"]["decision"]) == (UNAVAILABLE, "waiting")
    return said.json["ticket"]


def resumed(covey: Covey, ticket: str, *more: str) -> Said:
    return covey("ask", "--from", "ci", "--ticket", ticket, "--timeout", "0s", *more)


def test_an_approval_is_a_word_on_stdout_and_exit_code_0(covey: Covey) -> None:
    ticket = asked(covey)
    message = ticket.partition("@")[0]
    assert covey("approve", "1", "--agent", "lead") == Said(DONE, f"{message} is approved.\n", "")
    assert resumed(covey, ticket) == Said(DONE, "approved\n", "")
    assert resumed(covey, ticket) == Said(DONE, "approved\n", ""), "an outcome can be asked for again"
    assert covey("inbox", "ci", "--json").json == []


def test_a_rejection_has_its_own_exit_code_and_says_why(covey: Covey) -> None:
    ticket = asked(covey)
    assert covey("reject", "1", "--from", "lead", "--reason", "not on a Friday").code == DONE
    assert resumed(covey, ticket) == Said(REJECTED, "rejected: not on a Friday\n", "")
    said = resumed(covey, ticket, "--json")
    assert said.code == REJECTED
    assert said.json["approval"] == {"decision": "rejected", "reason": "not on a Friday"}
    assert (said.json["outcome"], said.json["resume"]) == ("replied", None)
    assert said.json["answer"]["parts"][1]["data"] == {
        "type": "deploy_response",
        "request_id": ticket.partition("@")[0],
        "approve": False,
        "reason": "not on a Friday",
    }


def test_a_wait_that_runs_out_says_how_to_wait_on(covey: Covey) -> None:
    said = covey(*REQUEST, "--timeout", "0s")
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert said.err.startswith("No decision from lead yet. The question stays open; wait on with:\n  covey ask --as ci")


def test_a_plain_question_has_no_approval(covey: Covey) -> None:
    said = covey("ask", "well?", "--from", "ci", "--to", "lead", "--register", "--timeout", "0s", "--json")
    assert (said.code, said.json["approval"]) == (UNAVAILABLE, None)


def test_programs_get_each_decision_as_a_document(covey: Covey) -> None:
    message = asked(covey).partition("@")[0]
    said = covey("approve", message, "--agent", "lead", "--json")
    assert (said.code, set(said.json)) == (DONE, {"id", "decision", "answer"})
    assert (said.json["id"], said.json["decision"]) == (message, "approved")
    assert covey("approve", message, "--agent", "lead", "--json").json == said.json, "the same again changes nothing"


def test_inbox_and_owed_show_what_waits_for_a_decision(covey: Covey) -> None:
    asked(covey)
    assert covey("send", "well?", "--from", "ci", "--to", "lead", "--request").code == DONE
    assert [debt["approval"] for debt in covey("owed", "lead", "--json").json] == ["deploy", None]
    table = covey("owed", "lead").out.splitlines()
    assert "approval" in table[0]
    assert " deploy " in table[1]
    rows = covey("inbox", "lead").out.splitlines()
    assert "approval (deploy)" in rows[1]
    assert "data {" not in rows[1], "what the kind and the text say is not said again"
    assert covey("approve", "1", "--agent", "lead", "--reason", "fine").code == DONE
    answer = covey("inbox", "ci").out.splitlines()[1]
    assert answer.endswith("Approved: fine")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["approve", "2", "--agent", "lead"], REFUSED, "asks for no approval. Answer it: `covey reply ID TEXT`."),
        (["reject", "2", "--agent", "lead", "--reason", "no"], REFUSED, "asks for no approval"),
        (["reject", "1", "--agent", "lead"], USAGE, "reason is missing: say why"),
        (["reject", "1", "--agent", "lead", "--reason", " "], USAGE, "reason is missing"),
        (["approve", "9", "--agent", "lead"], NOT_FOUND, "no message with the number 9"),
        (["approve", NOBODYS, "--agent", "lead"], NOT_FOUND, "no message"),
        (["approve", "x", "--agent", "lead"], USAGE, "message id"),
        (["approve", "1"], USAGE, "name an agent"),
        (["approve", "1", "--agent", "leed"], NOT_FOUND, "did you mean lead?"),
        (
            ["reply", "1", "yes, go on", "--from", "lead"],
            REFUSED,
            "must contain a decision: this one has none. Decide: `covey approve",
        ),
        (["reply", "1", '{"approve": "yes"}', "--from", "lead"], REFUSED, "approve 'yes' is not valid"),
        (["ask", "x", "--approval", "7up", "--from", "ci", "--to", "lead"], USAGE, "use plan, shutdown"),
        (["ask", "x", "--approval", "", "--from", "ci", "--to", "lead"], USAGE, "use plan, shutdown"),
        (["ask", "--approval", "plan", "--ticket", f"{NOBODYS}@lead", "--from", "ci"], USAGE, "asked already"),
    ],
)
def test_a_wrong_command_decides_nothing_and_says_why(covey: Covey, words: list[str], code: int, says: str) -> None:
    asked(covey)
    assert covey("send", "well?", "--from", "ci", "--to", "lead", "--request").code == DONE
    before = covey("log", "--json").out
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    as_json = covey(*words, "--json")
    assert (as_json.code, list(as_json.json)) == (code, ["error"])
    assert covey("log", "--json").out == before


def test_another_decision_is_refused(covey: Covey) -> None:
    message = asked(covey).partition("@")[0]
    assert covey("reject", "1", "--agent", "lead", "--reason", "no").code == DONE
    said = covey("approve", "1", "--agent", "lead")
    assert (said.code, said.out) == (REFUSED, "")
    assert said.err.startswith(f"covey: request {message} was rejected already. The first decision counts")
    assert covey("approve", "1", "--agent", "lead", "--json").json["error"]["code"] == "already-decided"


def test_nobody_decides_for_another(covey: Covey) -> None:
    message = asked(covey).partition("@")[0]
    for name in ("critic", "ci"):
        said = covey("approve", message, "--agent", name, "--json")
        assert (said.code, said.json["error"]["code"]) == (REFUSED, "not-yours")
    assert [debt["state"] for debt in covey("owed", "lead", "--json").json] == ["open"]


def test_the_operator_decides_for_everyone(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = asked(covey)
    token = covey("token", "create", "--operator").out.strip()
    monkeypatch.setenv("COVEY_TOKEN", token)
    assert covey("approve", "1", "--agent", "lead").code == DONE
    monkeypatch.delenv("COVEY_TOKEN")
    said = resumed(covey, ticket, "--json")
    assert (said.code, said.json["answer"]["from"], said.json["answer"]["grade"]) == (DONE, "operator", "token")


def test_what_can_never_be_decided_is_refused(covey: Covey) -> None:
    said = covey(*REQUEST, "--refuse")
    assert (said.code, said.out) == (REFUSED, "")
    ticket = asked(covey)
    assert covey("withdraw", ticket.partition("@")[0], "--agent", "ci").code == DONE
    withdrawn = resumed(covey, ticket, "--json")
    assert (withdrawn.code, withdrawn.json["approval"]["decision"]) == (REFUSED, "failed")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["approve", "1", "--agent", "lead", "--reason", "go on"], Said(DONE, "approved: go on\n", "")),
        (["reject", "1", "--agent", "lead", "--reason", "no"], Said(REJECTED, "rejected: no\n", "")),
    ],
)
def test_as_a_process_it_waits_until_another_process_decides(folder: Folder, words: list[str], expected: Said) -> None:
    with folder.start("watch", "--json", "--after", "0") as watch, folder.start(*REQUEST, "--timeout", "20s") as asking:
        while json.loads(watch.line())["action"] != "message.sent":
            pass
        assert folder.covey(*words).code == DONE
        assert asking.end() == expected


def test_killed_while_it_waits_it_leaves_a_request_that_is_decided_later(folder: Folder) -> None:
    with folder.start("watch", "--json", "--after", "0") as watch, folder.start(*REQUEST) as asking:
        while (event := json.loads(watch.line()))["action"] != "message.sent":
            pass
        asking.process.kill()
        assert asking.end().code == -signal.SIGKILL
    assert folder.covey("reject", "1", "--agent", "lead", "--reason", "late").code == DONE
    (waiting,) = folder.covey("inbox", "ci", "--json").json
    assert waiting["text"] == "Rejected: late"
    resume = ("ask", "--from", "ci", "--ticket", f"{event['message']}@lead")
    assert folder.covey(*resume) == Said(REJECTED, "rejected: late\n", "")
    assert folder.covey("inbox", "ci", "--json").json == []
